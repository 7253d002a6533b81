"""The file of a plan: read and check it, find the part that is due, and record which parts were built.

The file is the document of `swapcli plan --json`. It is replaced atomically, by one process at a time, and only when
the status of a part changes, so that no error can lose it.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING, Any, BinaryIO, Final, cast

from swapcli.core.encoding.disk_errors import read_error
from swapcli.core.encoding.json_text import to_json
from swapcli.core.encoding.strict_json import InvalidJson, parse_json_file
from swapcli.core.encoding.text import printable
from swapcli.core.errors import InvalidInput, InvalidPlan, OutsidePriceBand, PartNotDue, PlanEnded
from swapcli.core.model.number_format import format_significant, format_time
from swapcli.core.model.token import Token, in_tokens
from swapcli.core.records import NamedTuple
from swapcli.core.validation.field_reader import FieldReader
from swapcli.core.validation.values import MAX_UINT256, InvalidValue
from swapcli.quoting.planning.route_limits import PlanRouteLimits, read_limits
from swapcli.state.file_lock import try_lock
from swapcli.state.file_writing import write_user_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from swapcli.core.model.network import Network
    from swapcli.interface.plan_types import PartPayloadJson, PlanJson, PlanPartJson

PLAN_VERSION: Final = 1
PLANNED: Final = "planned"
BUILT: Final = "built"
DONE: Final = "done"
"""The statuses of a part."""
_MAX_BYTES: Final = 64 * 2**20  # a bound against mistyped names; a part's payload has about 100 kB
_PRICE_DIGITS: Final = 6


class PlannedPart(NamedTuple):
    """A part of a plan: its `number` from 1, the Unix time from which it may be built, and its amounts in base units.

    `next_at_s` is the time from which the next part may be built, or None for the last part. `payload_limits` are the
    limits on the route of `payload`.
    """

    number: int
    time_s: int
    amount_in: int
    amount_out: int
    status: str
    next_at_s: int | None
    built_at_s: int | None = None
    payload_ends_at_s: int | None = None
    payload: PartPayloadJson | None = None
    payload_limits: PlanRouteLimits | None = None


class PlanFile:
    """An open plan file, locked against other processes.

    Example: `with open_plan("plan.json") as file: part = file.due_part(now_s)`.
    """

    def __init__(self, name: str, document: PlanJson) -> None:
        self.name, self.document = name, document
        fields = _PlanFields(document)
        self.network_name, self.chain_id = fields.text("network"), fields.integer("chainId")
        self.token_in, self.token_out = _read_token(fields, "inputToken"), _read_token(fields, "outputToken")
        self.expires_at_s = fields.integer("expiresAt")
        band = fields.nested("priceBand")
        self.low, self.high = (band.read(key, _parse_price) for key in ("low", "high"))
        self.limits = _read_limits(fields)
        self.parts = tuple(_read_parts(fields))

    @property
    def remaining(self) -> int:
        """The total amount of the parts that are not done, in base units."""
        return sum(part.amount_in for part in self.parts if part.status != DONE)

    def check_network(self, network: Network) -> None:
        """Raise `InvalidPlan` if the plan is for another network."""
        if (network.name, network.chain_id) != (self.network_name, self.chain_id):
            raise _invalid(self.name, f"is a plan for {printable(self.network_name)}, not for {network.name}")

    def due_part(self, now_s: float) -> PlannedPart:
        """Return the first part that is not done. Raises `PartNotDue` if its time has not come, and `PlanEnded`."""
        part = next((part for part in self.parts if part.status != DONE), None)
        if part is None:
            raise PlanEnded(f"all {len(self.parts)} parts of {printable(self.name)} are done")
        if now_s < part.time_s:
            raise PartNotDue(
                f"part {part.number} of {len(self.parts)} is not due before {format_time(part.time_s)}",
                hint=f"run it again in {_wait(part.time_s - now_s)}",
                details={"part": part.number, "time": part.time_s},
            )
        if now_s > self.expires_at_s:
            raise PlanEnded(
                f"{printable(self.name)} ended at {format_time(self.expires_at_s)}, before part {part.number} was done",
                hint=f"make a new plan for {printable(in_tokens(self.remaining, self.token_in))}",
            )
        return part

    def check_price(self, part: PlannedPart, amount_out: int) -> None:
        """Raise `OutsidePriceBand` if `amount_out` base units for a part would be a price outside the plan's band."""
        price = price_of(part.amount_in, amount_out, self.token_in, self.token_out)
        if self.low <= price <= self.high:
            return
        side = "below" if price < self.low else "above"
        pair = printable(f"{self.token_out.symbol} per {self.token_in.symbol}")
        band = f"{_show_price(self.low)} to {_show_price(self.high)}"
        raise OutsidePriceBand(
            f"part {part.number} would get {_show_price(price)} {pair}, {side} the plan's price band of {band}",
            hint=f"wait, or make a new plan for {printable(in_tokens(self.remaining, self.token_in))}",
            details={"price": str(float(price)), "low": str(float(self.low)), "high": str(float(self.high))},
        )

    def record_built(self, part: PlannedPart, now_s: float, ends_at_s: int, payload: PartPayloadJson) -> PlannedPart:
        """Record in the file that a part's payload was built, and return the part. Raises the same errors as
        `write_user_file`."""
        built_at_s = int(now_s)
        self._change(part, status=BUILT, builtAt=built_at_s, payloadEndsAt=ends_at_s, payload=payload)
        return part._replace(status=BUILT, built_at_s=built_at_s, payload_ends_at_s=ends_at_s, payload=payload)

    def record_done(self, now_s: float) -> PlannedPart:
        """Record in the file that the built part was executed, and return the part. Raises `InvalidInput` if none was
        built."""
        part = next((part for part in self.parts if part.status == BUILT), None)
        if part is None:
            number = next((part.number for part in self.parts if part.status != DONE), None)
            problem = f"all its {len(self.parts)} parts are done" if number is None else f"part {number} is not built"
            raise InvalidInput(f"{printable(self.name)} has no part to mark as done: {problem}")
        self._change(part, status=DONE, doneAt=int(now_s), payload=None)
        return part._replace(status=DONE, payload=None)

    def _change(self, part: PlannedPart, **changes: object) -> None:
        """Write the file with new values for a part; those that are None are omitted."""
        parts = list(self.document["parts"])
        values = {**parts[part.number - 1], **changes}
        parts[part.number - 1] = cast("PlanPartJson", {name: each for name, each in values.items() if each is not None})
        document = seal({**self.document, "parts": parts})
        write_user_file(self.name, f"{to_json(document, indent=1)}\n".encode())
        self.document = document
        self.parts = tuple(_read_parts(_PlanFields(document)))


@contextmanager
def open_plan(name: str) -> Iterator[PlanFile]:
    """Open a plan's file and lock it. A file that is truncated, changed or not a plan is left unchanged.

    Raises `InvalidPlan`, and `InvalidInput` for a file that cannot be read or that another process has open.
    """
    with _open_locked(name) as file:
        content = file.read(_MAX_BYTES + 1)
        yield PlanFile(name, _parse(name, content))


def seal(document: Mapping[str, Any]) -> PlanJson:
    """Return a plan's document with a digest of its other fields."""
    rest = {name: value for name, value in document.items() if name != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return cast("PlanJson", {**rest, "digest": sha256(text.encode()).hexdigest()})


def price_of(amount_in: int, amount_out: int, token_in: Token, token_out: Token) -> Fraction:
    """Return the exact price of a swap, in whole output tokens per whole input token."""
    return Fraction(amount_out * 10**token_in.decimals, amount_in * 10**token_out.decimals)


def _show_price(price: Fraction) -> str:
    from decimal import Context

    value = Context(prec=60).divide(price.numerator, price.denominator)
    return format_significant(value, _PRICE_DIGITS)


def _wait(seconds: float) -> str:
    """Return a duration in whole minutes, rounded up, or in seconds if it is short."""
    return f"{-(-seconds // 60):,.0f} min" if seconds > 90 else f"{-(-seconds // 1):.0f} s"


@contextmanager
def _open_locked(name: str) -> Iterator[BinaryIO]:
    try:
        descriptor = os.open(name, os.O_RDWR | os.O_NONBLOCK | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as error:
        raise read_error(name, error) from None
    with open(descriptor, "r+b") as file:
        opened = os.fstat(descriptor)
        if not stat.S_ISREG(opened.st_mode):
            raise InvalidInput(f"{printable(name)} is not a regular file")
        # A process that has just written the file has replaced it, so the lock may be on the old file.
        if not try_lock(file) or not os.path.samestat(opened, os.stat(name)):
            raise InvalidInput(
                f"another process is using {printable(name)}", hint="try again when that process has finished"
            )
        yield file


def _parse(name: str, content: bytes) -> PlanJson:
    if len(content) > _MAX_BYTES:
        raise _invalid(name, f"is not a plan: it is larger than {_MAX_BYTES // 2**20} MiB")
    try:
        document = parse_json_file(content)
    except InvalidJson as error:
        raise _invalid(name, f"is not a complete plan: it {error.problem}") from None
    if not isinstance(document, dict) or "planVersion" not in document:
        raise _invalid(name, "is not a plan", "swapcli plan NETWORK TOKEN_IN TOKEN_OUT AMOUNT --over 4h --save FILE")
    version = document["planVersion"]
    if version != PLAN_VERSION:
        raise _invalid(
            name,
            f"is a plan of version {printable(str(version))[:20]}; this version of swapcli reads version "
            f"{PLAN_VERSION}",
        )
    if document.get("digest") != seal(document)["digest"]:
        raise _invalid(
            name, "was changed after swapcli wrote it", "restore it, or make a new plan for the amount that remains"
        )
    return cast("PlanJson", document)


def _invalid(name: str, problem: str, hint: str | None = None) -> InvalidPlan:
    return InvalidPlan(f"{printable(name)} {problem}", hint=hint, details={"file": name})


class _PlanFields(FieldReader):
    """Fields of a plan. Raises `InvalidPlan`."""

    @classmethod
    def error(cls, path: str, invalid: InvalidValue) -> InvalidPlan:
        """Return the error for the value at `path`."""
        return InvalidPlan(f"the plan is invalid: {path}: {invalid.problem}", details={"field": path})


def _read_token(fields: _PlanFields, key: str) -> Token:
    token = fields.nested(key)
    symbol = token.text("symbol")
    return Token(token.text("address"), symbol, symbol, token.integer("decimals", maximum=77))


def _read_limits(fields: _PlanFields) -> PlanRouteLimits | None:
    """Return the limits on routes; None if the file is of a version that did not record them."""
    return read_limits(fields.nested("routeLimits")) if fields.has("routeLimits") else None


def _read_parts(fields: _PlanFields) -> Iterator[PlannedPart]:
    rows = list(fields.objects("parts"))
    times = [row.integer("time") for row in rows]
    for number, row in enumerate(rows, start=1):
        payload = row.nested("payload") if row.has("payload") else None
        yield PlannedPart(
            row.integer("part", number, number),
            times[number - 1],
            row.integer("inputAmount", 1, MAX_UINT256),
            row.integer("outputAmount"),
            row.choice("status", (PLANNED, BUILT, DONE)),
            times[number] if number < len(rows) else None,
            row.integer("builtAt") if row.has("builtAt") else None,
            row.integer("payloadEndsAt") if row.has("payloadEndsAt") else None,
            cast("PartPayloadJson", dict(payload.values)) if payload else None,
            _read_limits(payload) if payload else None,
        )


def _parse_price(value: object) -> Fraction:
    try:
        price = Fraction(value) if isinstance(value, str) and len(value) <= 100 else None
    except (ValueError, ZeroDivisionError):
        price = None
    if price is None or price < 0:
        raise InvalidValue("a price as a decimal string", value)
    return price
