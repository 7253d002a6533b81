"""Encode and decode the contract's two calls, and interpret its results."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from swapcli.core.encoding.abi import WORD, AbiReader, encode_address, encode_uint, invalid_field, parse_hex
from swapcli.core.model.transfer_behaviour import (
    IRREGULAR,
    MAX_ROUNDING,
    ORDINARY,
    REFUSED,
    SHARES,
    UNKNOWN,
    TransferBehaviour,
    TransferKind,
)
from swapcli.core.model.units import PPM
from swapcli.core.records import NamedTuple

TRY_ALL: Final = "b087f60f"
"""`tryAll((address,address)[],address,address)`."""
CODES: Final = "bd1b9e19"
"""`codes(address[])`."""

_TRANSFERS: Final = 6  # trials: two in each direction
_DIRECTIONS: Final = 3
_LEAST_FEE_PPM: Final = 100
"""A loss of one or two units counts as rounding if, as a fee, it would be below a hundredth of a percent."""
_TRY_TOKEN: Final = "dda7b558"
"""`tryToken(address,address,address)`."""


class TransferTrial(NamedTuple):
    """A trial of a token, made from the contract that holds the token for a pool."""

    token: str
    holder: str


class TrialTransfer(NamedTuple):
    """A transfer of `amount` base units, with the decrease of the sender's balance and the increase of the
    recipient's."""

    is_done: bool
    amount: int
    lost: int
    gained: int


class TrialResult(NamedTuple):
    """The six transfers of a trial: out of the pool, between two wallets, into the pool, and the same three with
    another amount.

    The amount of a transfer that was not tried is 0.
    """

    transfers: tuple[TrialTransfer, ...]

    @property
    def is_refused(self) -> bool:
        """Return whether there is a direction in which transfers were tried and all failed."""
        sides = [self.transfers[side::_DIRECTIONS] for side in range(_DIRECTIONS)]
        return any(not any(each.is_done for each in side) and any(each.amount for each in side) for side in sides)


def classify_transfers(trial: TrialResult) -> TransferBehaviour:
    """Return the behaviour shown by a trial; `UNKNOWN` if the holder had too few tokens to try each direction."""
    if trial.is_refused:
        return REFUSED
    sides = [[each for each in trial.transfers[side::_DIRECTIONS] if each.is_done] for side in range(_DIRECTIONS)]
    if not all(sides):
        return UNKNOWN
    done = [each for side in sides for each in side]
    if any(each.gained > each.amount or each.lost > each.amount for each in done):
        return IRREGULAR
    if all(each.gained == each.lost == each.amount for each in done):
        return ORDINARY
    if all(_is_rounded(each) for each in done):
        return SHARES
    bought, between, sold = (max(map(_fee_ppm, side)) for side in sides)
    if not (bought or between or sold):
        return IRREGULAR
    return TransferBehaviour(TransferKind.FEE, buy_fee_ppm=bought, sell_fee_ppm=sold, transfer_fee_ppm=between)


def _is_rounded(transfer: TrialTransfer) -> bool:
    missing = transfer.amount - min(transfer.gained, transfer.lost)
    return missing <= MAX_ROUNDING and missing * PPM <= _LEAST_FEE_PPM * transfer.amount


def _fee_ppm(transfer: TrialTransfer) -> int:
    """Return the amount that did not arrive in ppm, rounded to nearest, but up if that would be 0."""
    missing = transfer.amount - transfer.gained
    return max((2 * missing * PPM + transfer.amount) // (2 * transfer.amount), 1 if missing else 0)


@lru_cache
def runtime_code() -> bytes:
    """Return the runtime bytecode of the contract."""
    with open(os.path.join(os.path.dirname(__file__), "artifact.json"), encoding="utf-8") as file:
        return parse_hex(json.load(file)["runtime"], "runtime")


def delegating_code(probe: str) -> bytes:
    """Return the bytecode for an account that delegates every call to the contract at `probe`."""
    return _delegating(bytes.fromhex(f"73{probe[2:]}"))  # PUSH20


def guarding_code(probe: str, own: str) -> bytes:
    """Return the bytecode for a pool that delegates `tryToken` to the contract at `probe`, and every other call to the
    pool's own code, which is at the address `own`. Some tokens inspect the pool to which they are sold."""
    is_trial = f"60003560e01c63{_TRY_TOKEN}14"  # whether the call's selector is that one
    # own ^ (own ^ probe) * is_trial
    return _delegating(bytes.fromhex(f"73{own[2:]}73{probe[2:]}8118{is_trial}0218"))


def _delegating(push_target: bytes) -> bytes:
    """Delegate the call to the address that `push_target` leaves on the stack; return or revert with the same data."""
    head = bytes.fromhex("36600060003760006000366000") + push_target + bytes.fromhex("5af43d600060003e")
    end = len(head) + 7
    return head + bytes.fromhex(f"60{end:02x}573d6000fd5b3d6000f3")


def encode_try_all(questions: Sequence[TransferTrial], wallets: tuple[str, str]) -> bytes:
    """Return the calldata of `tryAll`. Raises `InvalidInput` for an invalid address."""
    words = [
        f"{3 * WORD:064x}",
        *(encode_address(wallet, "wallet") for wallet in wallets),
        encode_uint(len(questions), 256, "questions"),
        *(encode_address(each, "question") for question in questions for each in question),
    ]
    return bytes.fromhex(TRY_ALL + "".join(words))


def decode_trials(answer: bytes, count: int) -> list[TrialResult]:
    """Return the results of `tryAll` for `count` trials. Raises `InvalidInput` if `answer` is malformed."""
    reader = AbiReader(answer)
    reader.offset(WORD, "trials")
    _check_length(reader, count, "trials")
    trials = [TrialResult(tuple(_transfer(reader) for _ in range(_TRANSFERS))) for _ in range(count)]
    reader.end("trials")
    return trials


def _transfer(reader: AbiReader) -> TrialTransfer:
    is_done, amount = reader.uint(1, "done") == 1, reader.uint(256, "amount")
    return TrialTransfer(is_done, amount, reader.signed(256, "lost"), reader.signed(256, "gained"))


def encode_codes(addresses: Sequence[str]) -> bytes:
    """Return the calldata of `codes`, which returns the code at each address. Raises `InvalidInput` for an invalid
    address."""
    words = (f"{WORD:064x}", f"{len(addresses):064x}", *(encode_address(each, "address") for each in addresses))
    return bytes.fromhex(CODES + "".join(words))


def decode_codes(answer: bytes, count: int) -> list[bytes]:
    """Return the results of `codes` for `count` addresses. Raises `InvalidInput` if `answer` is malformed."""
    reader = AbiReader(answer)
    reader.offset(WORD, "codes")
    _check_length(reader, count, "codes")
    for _ in range(count):
        reader.uint(64, "code offset")
    codes = [reader.content("code") for _ in range(count)]
    reader.end("codes")
    return codes


def _check_length(reader: AbiReader, count: int, field: str) -> None:
    found = reader.uint(64, f"{field} length")
    if found != count:
        raise invalid_field(f"{field} length", f"expected {count}, not {found}")
