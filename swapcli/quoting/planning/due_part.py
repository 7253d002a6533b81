"""Build the part of a plan that is due, and record it in the plan's file before it is shown."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol, cast

from swapcli.core.encoding.text import printable
from swapcli.core.errors import InvalidPlan
from swapcli.core.model.network import Network
from swapcli.core.model.number_format import format_time
from swapcli.core.model.token import Token
from swapcli.core.model.transaction import NOBODY
from swapcli.core.networks.address import display_address
from swapcli.core.records import NamedTuple
from swapcli.core.validation.argument_types import checks_arguments
from swapcli.quoting.planning.plan_file import PlanFile, PlannedPart, open_plan
from swapcli.quoting.planning.recorded_payload import RecordedPayload, record_payload
from swapcli.quoting.planning.recorded_review import FreshPrices, check_recorded
from swapcli.state.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from os import PathLike

    from swapcli.interface.document_types import PlannedCalldataJson
    from swapcli.interface.plan_types import BuiltPartJson, PlanJson
    from swapcli.quoting.config import Settings
    from swapcli.quoting.planning.route_limits import PlanRouteLimits
    from swapcli.quoting.price_policy import PriceRequest
    from swapcli.quoting.sources.quote_source import QuoteSource
    from swapcli.quoting.swap_quote import PreparedSwap, SwapQuote


class BuildsPart(Protocol):
    """An object that quotes a part and builds its payload, with the same checks as for any other order."""

    network: Network
    recipient: str
    limits: PlanRouteLimits
    source: QuoteSource
    settings: Settings
    price_request: PriceRequest

    def name_option(self, parameter: str) -> str:
        """Return the name of a quote parameter in errors."""

    def quote(self, part: PlannedPart) -> SwapQuote:
        """Return a fresh quote for the part."""

    def prepare(self, quote: SwapQuote) -> PreparedSwap:
        """Return the payload of a quote after its checks."""


class BuiltPart(NamedTuple):
    """The payload of the part that is due. It is `repeated` if it was already built earlier and has not expired.

    `notes` are facts about the part, in addition to the warnings on its payload.
    """

    part: PlannedPart
    part_count: int
    payload: PreparedSwap | RecordedPayload
    is_repeated: bool
    notes: tuple[str, ...] = ()

    def document(self) -> PlannedCalldataJson:
        """Return the JSON of `swapcli plan --next`, which is the JSON of `calldata` plus the part."""
        assert self.part.built_at_s is not None
        part: BuiltPartJson = {
            "part": self.part.number,
            "parts": self.part_count,
            "time": self.part.time_s,
            "builtAt": self.part.built_at_s,
            "repeated": self.is_repeated,
            "nextAt": self.part.next_at_s,
        }
        return cast("PlannedCalldataJson", {**self.payload.document(), "planPart": part})


def build_due_part(plan: PlanFile, builder: BuildsPart, now_s: float) -> BuiltPart:
    """Return the payload of the part of `plan` that is due at `now_s` (Unix), and record it in the plan's file.

    If the part's payload was built earlier and has not expired, the recorded payload is returned, after the same review
    as for any other payload. If anything fails, nothing is written. Raises `PartNotDue`, `PlanEnded`,
    `OutsidePriceBand`, `InvalidPlan` for another network or recipient or for narrower limits, and the same errors as
    `Market.prepare`.
    """
    plan.check_network(builder.network)
    part, count = plan.due_part(now_s), len(plan.parts)
    notes = tuple(_late_notes(part, now_s))
    if part.payload is not None:
        if now_s < (part.payload_ends_at_s or 0):
            _check_recipient(plan, part, builder)
            _check_limits(plan, part, builder)
            prices = FreshPrices(builder.source, builder.settings, builder.price_request)
            check_recorded(plan, part, builder.recipient, builder.limits, prices)
            return BuiltPart(part, count, RecordedPayload(builder.network, part.payload), True, (_repeated_note(part),))
        notes = (_renewed_note(plan, part),)
    quote = builder.quote(part)
    plan.check_price(part, quote.amount_out)
    prepared = builder.prepare(quote)
    # A payload expires in network time, while the plan is in this machine's time.
    ends_at_s = (prepared.deadline.end_s or prepared.figures.expires_at_s) - quote.state.clock_offset_s
    built = plan.record_built(part, now_s, ends_at_s, record_payload(prepared, builder.limits))
    return BuiltPart(built, count, prepared, False, notes)


def _late_notes(part: PlannedPart, now_s: float) -> Iterator[str]:
    if part.next_at_s is not None and now_s >= part.next_at_s:
        yield f"part {part.number} is late: it was due at {format_time(part.time_s)}, and is built at the current price"


def _repeated_note(part: PlannedPart) -> str:
    built_at, ends_at = format_time(part.built_at_s or 0), format_time(part.payload_ends_at_s or 0)
    return f"part {part.number} was built at {built_at}: this is the same payload, valid until {ends_at}"


def _renewed_note(plan: PlanFile, part: PlannedPart) -> str:
    """Return why a part is built again, and what its first payload may still do."""
    assert part.payload is not None
    is_enforced = part.payload["document"].get("deadlineEnforcer") != NOBODY
    earlier = "expired" if is_enforced else "is outdated but can still be executed"
    return (
        f"part {part.number} was built at {format_time(part.built_at_s or 0)}, and that payload {earlier}. This is "
        f"a new payload. If you have executed the earlier one, run swapcli plan --done {printable(plan.name)} "
        "instead"
    )


def _check_recipient(plan: PlanFile, part: PlannedPart, builder: BuildsPart) -> None:
    """Raise `InvalidPlan` if the recorded payload pays someone else."""
    assert part.payload is not None
    recipient = part.payload["recipient"]
    if recipient != builder.recipient:
        address = display_address(recipient, builder.network.kind)
        raise InvalidPlan(
            f"part {part.number} of {printable(plan.name)} was built for the recipient {address}",
            hint=f"use that recipient, or wait until {format_time(part.payload_ends_at_s or 0)}, when the payload "
            "expires",
        )


def _check_limits(plan: PlanFile, part: PlannedPart, builder: BuildsPart) -> None:
    """Raise `InvalidPlan` if the recorded payload was built with wider limits on the route.

    Protocols are not compared here: the review shows which ones the payload uses.
    """
    wider = () if part.payload_limits is None else tuple(part.payload_limits.wider_than(builder.limits))
    if wider:
        raise InvalidPlan(
            f"part {part.number} of {printable(plan.name)} was built with wider limits: "
            f"{', '.join(map(builder.name_option, wider))}",
            hint=f"use those limits, or wait until {format_time(part.payload_ends_at_s or 0)}, when the payload "
            "expires",
        )


class PlanProgress(NamedTuple):
    """A saved plan after a part was marked as done: its tokens, all of its parts, and the document of its file."""

    done: PlannedPart
    token_in: Token
    token_out: Token
    network_name: str
    parts: tuple[PlannedPart, ...]
    plan: PlanJson

    def document(self) -> PlanJson:
        """Return the JSON of `swapcli plan --done`, which is the plan's file."""
        return self.plan


@checks_arguments
def mark_part_done(path: str | PathLike[str]) -> PlanProgress:
    """Record in a plan file that the part built last was executed, so that `build_part` continues with the next part.

    Raises `InvalidInput` if no part is built, `InvalidPlan`, `InputOutputError`.
    """
    with open_plan(os.fspath(path)) as plan:
        done = plan.record_done(SYSTEM_CLOCK.now_s())
        return PlanProgress(done, plan.token_in, plan.token_out, plan.network_name, plan.parts, plan.document)
