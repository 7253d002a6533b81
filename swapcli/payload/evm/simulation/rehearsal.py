"""The call `rehearse` as bytes: a swap as in `simulate`, followed by trials whose effects are undone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from swapcli.core.encoding.abi import WORD, AbiReader, Dynamic, encode_address, encode_fields, encode_list
from swapcli.core.model.transaction import Transaction
from swapcli.core.records import NamedTuple
from swapcli.payload.evm.simulation.call import SimulatedCall, SimulationRun, encode_preparation, encode_swap, read_run

REHEARSE: Final = "aa5e84f6"
"""`rehearse`, which takes a swap as in `simulate`, and trials:
`(address,address,address,address,address,(address,bytes)[])[]`."""
RELAY: Final = "fb6d2452"
"""`relay`, with the same arguments."""
LOOK: Final = "71e3c67b"
"""`look((address,bytes)[])`."""
TRIED: Final = bytes.fromhex("dfb2b02a")
"""`Tried(bool,uint256,uint256,uint256,uint256,bytes)`."""

_RUN_WORDS: Final = 6
_TRIED_WORDS: Final = 6


class Watch(NamedTuple):
    """A balance to watch: of `token` (zero for native currency), held by `holder`."""

    token: str
    holder: str


class Trial(NamedTuple):
    """The calls that `account` makes after the swap, in order, while two balances are watched."""

    account: str
    watched: tuple[Watch, Watch]
    calls: tuple[Transaction, ...]


class TrialRun(NamedTuple):
    """The outcome of a trial: whether all calls succeeded, the changes of the two watched balances (negative if they
    fell), and the return data of the last call. A trial that took all of its gas does not count as made."""

    is_done: bool
    grown: tuple[int, int]
    return_data: bytes


class Rehearsal(NamedTuple):
    """The swap and the trials after it; there are no trials if the swap failed."""

    run: SimulationRun
    trials: tuple[TrialRun, ...]


def encode_look(calls: Sequence[Transaction]) -> bytes:
    """Return the calldata of `look`, which makes the `calls`. Raises `InvalidInput` for a value out of range."""
    entries = encode_list([Dynamic(encode_preparation(call)) for call in calls])
    return bytes.fromhex(LOOK + encode_fields(entries))


def decode_look(answer: bytes, count: int) -> list[bytes]:
    """Decode the return data of `count` calls in `look`, which is empty for failed calls. Raises `InvalidInput`."""
    reader = AbiReader(answer)
    reader.offset(WORD, "outputs")
    found = reader.uint(16, "outputs length")
    if found != count:
        reader.fail("outputs length", f"expected {count}, not {found}")
    for _ in range(count):
        reader.uint(64, "output offset")
    outputs = [reader.content("output") for _ in range(count)]
    reader.end("outputs")
    return outputs


FAILED_TRIAL: Final = TrialRun(False, (0, 0), b"")


def encode_rehearse(swap: SimulatedCall, allowances: Sequence[int], trials: Sequence[Trial]) -> bytes:
    """Return the calldata of `rehearse`, with approvals made as in `encode_simulate`.

    Raises `InvalidInput` for a value out of range.
    """
    return bytes.fromhex(
        REHEARSE
        + encode_fields(Dynamic(encode_swap(swap, allowances)), encode_list([_encode_trial(trial) for trial in trials]))
    )


def encode_relay(swap: SimulatedCall, trials: Sequence[Trial]) -> bytes:
    """Return the calldata of `relay`, for a sender without code that has granted all approvals.

    Raises `InvalidInput` for a value out of range.
    """
    bare = swap._replace(approvals=(), permitted=())
    entries = encode_list([_encode_trial(trial) for trial in trials])
    return bytes.fromhex(RELAY + encode_fields(Dynamic(encode_swap(bare)), entries))


def _encode_trial(trial: Trial) -> Dynamic:
    (token, holder), (other_token, other_holder) = trial.watched
    words = (trial.account, token, holder, other_token, other_holder)
    calls = encode_list([Dynamic(encode_preparation(call)) for call in trial.calls])
    return Dynamic(encode_fields(*(encode_address(word, "trial") for word in words), calls))


def decode_rehearsal(answer: bytes, swap: SimulatedCall, allowances: Sequence[int] = ()) -> Rehearsal:
    """Decode the result of `rehearse`. Raises `InvalidInput` for anything else."""
    reader = AbiReader(answer)
    run, trials_at = read_run(reader, swap, allowances, _RUN_WORDS)
    if trials_at != reader.position:
        reader.fail("trials offset", f"expected {reader.position}, not {trials_at}")
    count = reader.uint(16, "trials length")
    for _ in range(count):
        reader.uint(64, "trial offset")
    trials = [_decode_trial(reader.content("trial")) for _ in range(count)]
    reader.end("answer")
    return Rehearsal(run, tuple(trials))


def _decode_trial(data: bytes) -> TrialRun:
    if not data.startswith(TRIED):
        return FAILED_TRIAL
    reader = AbiReader(data[len(TRIED) :])
    is_done = reader.uint(1, "done") == 1
    found, left, other_found, other_left = (reader.uint(256, "balance") for _ in range(4))
    reader.offset(_TRIED_WORDS * WORD, "output")
    output = reader.content("output")
    reader.end("trial")
    return TrialRun(is_done, (left - found, other_left - other_found), output)
