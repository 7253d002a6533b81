"""Test whether a token's transfers deliver the full amount, with calls on hypothetical state. Nothing is sent to the
chain.

The contract of `swapcli.state.transfers.transfer_probe` is placed at the pools that hold a token. The contract
transfers a part of the pool's tokens to a wallet, from there to another wallet, and back into the pool. It returns the
change of each balance. If a token rejects the transfers, they are tried once more with pools that keep their own
functions, since some tokens call the pool.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from swapcli.core.errors import ChainReorganized, InvalidInput, UpstreamError
from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.core.model.transfer_behaviour import UNKNOWN, TransferBehaviour, worst_of
from swapcli.core.records import NamedTuple
from swapcli.families.reading.calls import ContractCall
from swapcli.state.rpc.node import BlockId, HypotheticalCall, Node, StateOverride, StateOverrideNode
from swapcli.state.transfers.transfer_probe import (
    TransferTrial,
    TrialResult,
    classify_transfers,
    decode_codes,
    decode_trials,
    delegating_code,
    encode_codes,
    encode_try_all,
    guarding_code,
    runtime_code,
)

MAX_HOLDERS: Final = 3
"""Pools with which a token is tried: a fee may apply in only some, and few tokens with a fee are in more pools than
this."""

_PROBE, _WALLET, _OTHER_WALLET = (
    f"0x{start}{'5d3e8a61c4f2907b' * 2}" for start in ("a11ce001", "a11ce002", "a11ce003")
)
"""Arbitrary addresses for the probe contract and two wallets."""
_OWN_CODE: Final = "a11ce1"
"""Prefix of the addresses that hold the pools' own code during a trial."""
_BATCH_SIZE: Final = 32
"""Trials per call: each takes about 400,000 gas, and almost all nodes allow at least 30 million per call."""
_GUARDED_BATCH_SIZE: Final = 8
"""Trials per call that include the code of each pool: up to 24 KiB."""


class TransferReport(NamedTuple):
    """The behaviours of tokens by address. `failure` is the reason if the node cannot run trials."""

    behaviours: Mapping[str, TransferBehaviour]
    failure: str = ""


def pool_holder(pool: Pool, network: Network) -> str | None:
    """Return the contract that holds a pool's tokens, such as Balancer's vault; None if it is unknown."""
    if not pool.holds_reserves_in_vault:
        return pool.address
    addresses_by_role = (each.addresses for each in network.deployments if pool.protocol in each.protocols)
    return next((addresses["vault"] for addresses in addresses_by_role if "vault" in addresses), None)


def plan_trials(tokens: Iterable[str], pools: Iterable[Pool], network: Network) -> list[TransferTrial]:
    """Return the trials to run: each token at the first `MAX_HOLDERS` pools that hold it."""
    found: dict[str, dict[str, None]] = {token: {} for token in tokens}
    for pool in pools:
        for token in pool.tokens:
            holders = found.get(token)
            if holders is not None and len(holders) < MAX_HOLDERS and (holder := pool_holder(pool, network)):
                holders[holder] = None
    return [TransferTrial(token, holder) for token, holders in found.items() for holder in holders]


def first_trial_calls(questions: Sequence[TransferTrial]) -> list[HypotheticalCall]:
    """Return the first calls of `run_transfer_trials`."""
    return [_trial_call(batch, ()) for batch in _split_batches(questions, _BATCH_SIZE)]


def run_transfer_trials(
    node: Node, at: BlockId, questions: Sequence[TransferTrial], first_results: Sequence[bytes] = ()
) -> TransferReport:
    """Return the transfer behaviour of tokens; `UNKNOWN` for a token that could not be tried, for example because its
    holders have too little of it.

    `first_results` are the results of `first_trial_calls`, if the node has already run them.

    Tokens that reject no transfer need one exchange with the node, and all others need two more. All tokens are
    `UNKNOWN` if the node does not support state overrides. Raises `ChainReorganized` if the node no longer has the
    block `at`.
    """
    tokens = dict.fromkeys(question.token for question in questions)
    if not tokens:
        return TransferReport({})
    if not isinstance(node, StateOverrideNode):
        return TransferReport(dict.fromkeys(tokens, UNKNOWN), f"{node.redacted_url} cannot simulate calls")
    runner = _TrialRunner(node, at, first_results)
    try:
        found: dict[str, list[TransferBehaviour]] = {token: [] for token in tokens}
        trials = dict(runner.trials(questions))
        refused = [question for question, trial in trials.items() if trial.is_refused]
        trials.update(runner.guarded_trials(refused))
    except ChainReorganized:
        raise
    except _NoOverrides as error:
        return TransferReport(dict.fromkeys(tokens, UNKNOWN), str(error))
    for question, trial in trials.items():
        found[question.token].append(classify_transfers(trial))
    return TransferReport({token: worst_of(behaviours) for token, behaviours in found.items()})


class _NoOverrides(Exception):
    """The node does not support state overrides."""


class _TrialRunner:
    """Runs trials on a node after one block."""

    def __init__(self, node: StateOverrideNode, at: BlockId, first_results: Sequence[bytes]) -> None:
        self._node, self._at, self._first_results = node, at, first_results

    def trials(self, questions: Sequence[TransferTrial]) -> Iterator[tuple[TransferTrial, TrialResult]]:
        """Try all tokens with pools that only transfer."""
        return self._run_batches([(batch, []) for batch in _split_batches(questions, _BATCH_SIZE)])

    def guarded_trials(self, questions: Sequence[TransferTrial]) -> Iterator[tuple[TransferTrial, TrialResult]]:
        """Try all tokens with pools that also keep their own functions."""
        batches = _split_batches(questions, _GUARDED_BATCH_SIZE)
        return self._run_batches([(batch, self._read_own_code(batch)) for batch in batches])

    def _run_batches(
        self, prepared: list[tuple[Sequence[TransferTrial], list[StateOverride]]]
    ) -> Iterator[tuple[TransferTrial, TrialResult]]:
        while prepared:
            answers = self._answers([_trial_call(batch, own_code) for batch, own_code in prepared])
            retried: list[tuple[Sequence[TransferTrial], list[StateOverride]]] = []
            for (batch, own_code), answer in zip(prepared, answers, strict=True):
                if answer is not None:
                    yield from zip(batch, self._read(answer, batch), strict=True)
                elif len(batch) > 1:  # too much gas for the node, or a token that takes all of it
                    middle = len(batch) // 2
                    retried += [(batch[:middle], own_code), (batch[middle:], own_code)]
            prepared = retried

    def _read_own_code(self, questions: Sequence[TransferTrial]) -> list[StateOverride]:
        """Return overrides that place the pools' own code at other addresses, except code that the node does not
        return."""
        holders = list(dict.fromkeys(question.holder for question in questions))
        call = HypotheticalCall(
            _WALLET, ContractCall(_PROBE, encode_codes(holders)), (StateOverride(_PROBE, code=runtime_code()),)
        )
        (answer,) = self._answers([call])
        try:
            codes = decode_codes(answer, len(holders)) if answer else []
        except InvalidInput:
            codes = []
        return [
            StateOverride(_own_address(holder), code=code) for holder, code in zip(holders, codes, strict=False) if code
        ]

    def _answers(self, calls: Sequence[HypotheticalCall]) -> list[bytes | None]:
        """Return the results of calls. Raises `_NoOverrides`."""
        first, self._first_results = self._first_results, ()
        try:
            answers: list[bytes | None] = [*first] if len(first) == len(calls) else self._node.simulate(calls, self._at)
        except ChainReorganized:
            raise
        except UpstreamError as error:
            raise _NoOverrides(error.message) from None
        if b"" in answers:
            raise _NoOverrides(f"{self._node.redacted_url} ignores state overrides")
        return answers

    def _read(self, answer: bytes, questions: Sequence[TransferTrial]) -> list[TrialResult]:
        try:
            return decode_trials(answer, len(questions))
        except InvalidInput as error:
            raise _NoOverrides(
                f"{self._node.redacted_url} returned invalid results for test transfers: {error.message}"
            ) from None


def _trial_call(questions: Sequence[TransferTrial], own_code: Sequence[StateOverride]) -> HypotheticalCall:
    guarded = {each.address for each in own_code}
    codes = {
        holder: guarding_code(_PROBE, address) if (address := _own_address(holder)) in guarded else plain
        for plain in [delegating_code(_PROBE)]
        for holder in (*(question.holder for question in questions), _WALLET, _OTHER_WALLET)
    }
    overrides = [StateOverride(address, code=code) for address, code in codes.items()]
    call = ContractCall(_PROBE, encode_try_all(questions, (_WALLET, _OTHER_WALLET)))
    return HypotheticalCall(_WALLET, call, (StateOverride(_PROBE, code=runtime_code()), *overrides, *own_code))


def _split_batches(questions: Sequence[TransferTrial], size: int) -> list[Sequence[TransferTrial]]:
    return [questions[first : first + size] for first in range(0, len(questions), size)]


def _own_address(holder: str) -> str:
    """Return the address that carries a holder's own code during a trial."""
    return f"0x{_OWN_CODE}{holder[8:]}"
