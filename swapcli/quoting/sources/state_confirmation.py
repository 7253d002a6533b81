"""Confirm the state behind a payload with other nodes, so that no single public node decides what the user signs.

A second node reads the route's pools again, at the same block, and must return exactly the same states. If it does not,
a third node decides. If no node can decide, there is no payload (`NodesDisagree`). The other pools that the first node
read are compared too: the order must not pay more with the second node's states, because otherwise one node could make
a bad route look best by hiding better ones.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from swapcli.core.errors import ChainReorganized, NodesDisagree, UpstreamError
from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.core.model.token import Token
from swapcli.core.model.transfer_behaviour import UNKNOWN, TransferBehaviour
from swapcli.core.records import NamedTuple
from swapcli.families.reading.calls import ContractCall
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.node import ChainHead
from swapcli.state.rpc.witness_node import BlockMissing, Witnesses, WitnessNode
from swapcli.state.snapshot_reader import BlockSnapshot, ReadState
from swapcli.state.transfers.transfer_trials import run_transfer_trials

if TYPE_CHECKING:
    from swapcli.state.rpc.witness_node import Pending
    from swapcli.state.transfers.transfer_probe import TransferTrial
    from swapcli.state.transfers.transfer_trials import TransferReport

_MAX_GAS_PRICE_FACTOR: Final = 10
"""Nodes of one chain add different tips to the base fee."""
_HINT: Final = "try again, or set a trusted node with --rpc-url, or a different witness with --witness"


class Confirmation(NamedTuple):
    """The number of nodes that agree on a state, including the node from which it was read.

    `unconfirmed` is the reason if a second node should have confirmed the state but none did.
    """

    witnesses: int
    unconfirmed: str = ""


class BuiltState(NamedTuple):
    """The state from which a payload was built. `pools` are the pools of its route, by key, as they were `read`.

    `transfers` is the transfer behaviour of its tokens, as tested on the node in the `trials`. `improves` returns
    whether the order would pay more with other pool states, by key (None for a pool that cannot be read), or at another
    gas price. It is None if the route was given by the user.
    """

    read: ReadState
    pools: Mapping[str, Pool]
    tokens: Sequence[Token]
    trials: Sequence[TransferTrial] = ()
    transfers: Mapping[str, TransferBehaviour] = {}
    improves: Callable[[Mapping[str, Pool | None], int | None], bool] | None = None


class _Difference(Exception):
    """A witness contradicts the first node; the message describes the difference."""


class StateConfirmation:
    """Confirms states with `witnesses`. The first witness reads at the same time as the first node.

    Example: `confirmation.begin(snapshot)`, read the pools, then `confirmation.finish(state)`.
    """

    def __init__(self, witnesses: Witnesses) -> None:
        self._witnesses = witnesses
        self._mirror: WitnessNode | None = None
        self._mirrored: BlockSnapshot | None = None
        self._trials: dict[TransferTrial, None] = {}
        self._mirrored_trials: Pending[TransferReport] | None = None

    def begin(self, snapshot: BlockSnapshot) -> None:
        """Make a witness read the block of a snapshot, and then the same pools as the snapshot."""
        if self._mirrored is snapshot:
            return
        self._discard()
        mirror = next(self._witnesses.candidates(), None)
        if mirror is None:
            return
        self._start(mirror, snapshot.head, snapshot.network)
        self._mirror, self._mirrored = mirror, snapshot
        snapshot.on_read = self._prefetch
        snapshot.answers = None if snapshot.known else {}

    def _prefetch(self, calls: Sequence[ContractCall]) -> None:
        """Let the witness make calls, and read the tokens of the pools that are read."""
        from swapcli.state.tokens import decimals_call

        if self._mirror is None or self._mirrored is None:
            return
        tokens = dict.fromkeys(token for pool in self._mirrored.known.values() for token in pool.tokens)
        self._mirror.prefetch([*calls, *map(decimals_call, tokens)])

    def begin_trials(self, trials: Sequence[TransferTrial]) -> None:
        """Make the witness run the same trial transfers as the first node."""
        self._trials.update(dict.fromkeys(trials))
        mirror, all_trials = self._mirror, [*self._trials]
        if mirror is not None:
            self._mirrored_trials = mirror.do(
                lambda: run_transfer_trials(mirror.simulating, mirror.head().block, all_trials)
            )

    def finish(self, state: BuiltState) -> Confirmation:
        """Return the number of nodes that agree on a state. Raises `NodesDisagree`, and `UpstreamError` from a witness
        named by the user."""
        try:
            return self._confirm(state)
        finally:
            self._discard()

    def close(self) -> None:
        """Stop the witness."""
        self._discard()

    def _confirm(self, state: BuiltState) -> Confirmation:
        first = self._witnesses.first_host
        agreeing = {first} if first else set()
        unable: list[str] = []
        differing: dict[str, str] = {}
        is_missing = False
        block, required = state.read.head.block, self._witnesses.required
        candidates = self._candidates(state.read)
        for witness in candidates:
            if witness.host == first:
                continue
            try:
                self._compare(witness, state)
                agreeing.add(witness.host)
            except _Difference as difference:
                differing[witness.host] = str(difference)
            except BlockMissing as error:
                is_missing = True
                differing[witness.host] = error.message
            except UpstreamError as error:
                if witness.is_named:
                    raise
                unable.append(f"{witness.host}: {error.message}")
            if len(agreeing) >= required or len(differing) > 1 or (witness.is_named and differing):
                break
        candidates.close()
        if len(agreeing) >= required and not (differing and len(agreeing) < 2):
            return Confirmation(len(agreeing))
        if differing:
            read_from = first or self._witnesses.description
            found = "; ".join(f"{host} {what}" for host, what in differing.items())
            raise NodesDisagree(
                f"nodes report different states at block {block.number:,}, on which the transaction would be built:"
                f" the state was read from {read_from}, but {found}",
                hint=_HINT,
                details={"block": block.number, "readFrom": read_from, "nodes": list(differing)},
                is_outvoted=len(differing) > 1 or is_missing,
            )
        why = f" ({'; '.join(unable)})" if unable else ""
        return Confirmation(max(len(agreeing), 1), f"no second node has confirmed the pool state{why}")

    def _candidates(self, read: ReadState) -> Generator[WitnessNode, None, None]:
        """Yield the witness that is already reading, then the others."""
        tried = set()
        if self._mirror is not None and self._mirrored is not None and self._mirrored.head is read.head:
            tried.add(self._mirror.host)
            yield self._mirror
        for witness in self._witnesses.candidates():
            if witness.host in tried:
                witness.close()
                continue
            tried.add(witness.host)
            self._start(witness, read.head, read.network)
            try:
                yield witness
            finally:
                witness.close()

    def _start(self, witness: WitnessNode, head: ChainHead, network: Network) -> None:
        witness.start(head.block.number, None if head.code is None else network.router)

    def _discard(self) -> None:
        if self._mirrored is not None:
            self._mirrored.on_read = self._mirrored.answers = None
        if self._mirror is not None:
            self._mirror.close()
        self._mirror = self._mirrored = self._mirrored_trials = None

    def _compare(self, witness: WitnessNode, state: BuiltState) -> None:
        """Raise `_Difference` unless a witness reads the same state, and `UpstreamError` if it cannot be read."""
        first, head = state.read, witness.head()
        block = first.head.block
        if block.hash and head.block != block:
            what = "the hash" if head.block.hash != block.hash else "the time"
            raise _Difference(f"has a different block {block.number:,}: {what} differs")
        if block.timestamp not in (0, head.block.timestamp):
            raise _Difference(f"has a different block {block.number:,}: the time differs")
        if first.head.code is not None and head.code is not None and head.code != first.head.code:
            raise _Difference(f"has different code for the router {first.network.router}")
        with suppress(UpstreamError):  # failed reads are repeated, and raise then
            witness.finish()
        try:
            if not _has_same_answers(witness, first):
                again = first.read_again(witness, head._replace(gas_price=first.head.gas_price))
                self._check_pools(again, state)
                self._check_router(again, first)
            self._check_gas_price(head, state)
            self._check_tokens(witness, head, state)
        except ChainReorganized as error:
            raise _Difference(f"has a different block {block.number:,}") from error

    def _check_pools(self, again: BlockSnapshot, state: BuiltState) -> None:
        first = state.read
        for key, pool in state.pools.items():
            if key in again.pools and again.pools[key] != pool:
                reason = f": {again.reasons[key]}" if key in again.reasons else ""
                raise _Difference(f"reports a different state of the pool {key}{reason}")
        others = {
            key: pool
            for key, pool in again.pools.items()
            if key not in state.pools and pool != first.pools.get(key, pool)
        }
        if others and state.improves is not None and state.improves(others, None):
            key = next(iter(others))
            raise _Difference(f"reports a different state of the pool {key}, with which the order pays more")

    def _check_gas_price(self, head: ChainHead, state: BuiltState) -> None:
        """Compare gas prices if they decide the route: at a high price, fewer pools pay off."""
        price, other = state.read.head.gas_price, head.gas_price
        if state.improves is None or not isinstance(price, int) or not isinstance(other, int):
            return
        if price > _MAX_GAS_PRICE_FACTOR * other and state.improves({}, other):
            raise _Difference(f"has a gas price of {other:,} instead of {price:,} wei, at which the order pays more")

    def _check_router(self, again: BlockSnapshot, first: ReadState) -> None:
        registered, registry = first.registered_router, first.network.read_registry
        if registered is not None and registry is not None and again.read_router(registry) != registered:
            raise _Difference(f"reports a different router in the registry {registry}")

    def _check_tokens(self, witness: WitnessNode, head: ChainHead, state: BuiltState) -> None:
        """Compare the decimals of the tokens, and how they transfer."""
        from swapcli.state.tokens import load_decimals

        tokens = {each.address: each for each in state.tokens}
        reader = MulticallReader(witness, head.block, state.read.network.multicall)
        for address, decimals in load_decimals(reader, list(tokens)).items():
            if decimals != tokens[address].decimals:
                raise _Difference(f"reports {decimals} decimals for the token {address}")
        self._check_transfers(witness, head, state)

    def _check_transfers(self, witness: WitnessNode, head: ChainHead, state: BuiltState) -> None:
        """Compare how tokens transfer: the route's tokens, and those that limited the choice of routes."""
        trials = {**dict.fromkeys(state.trials), **self._trials}
        if not trials:
            return
        if witness is self._mirror and self._mirrored_trials is not None and trials == self._trials:
            report = self._mirrored_trials.result()
        else:
            report = run_transfer_trials(witness.simulating, head.block, [*trials])
        used = {each.address for each in state.tokens}
        for token, behaviour in state.transfers.items() if not report.failure else ():
            other = report.behaviours.get(token, behaviour)
            is_known = token in used or UNKNOWN not in (behaviour, other)
            if other != behaviour and is_known and (other.is_limiting or behaviour.is_limiting):
                raise _Difference(f"reports different transfer behaviour for the token {token}")


def _has_same_answers(witness: WitnessNode, first: ReadState) -> bool:
    """Return whether a witness responded like the first node to all calls, so that the states are equal too."""
    answers = first.answers
    if not answers:
        return False
    again = witness.recall([*answers], first.head.block)
    return len(again) == len(answers) and all(again[place] == found for place, found in enumerate(answers.values()))
