"""Confirm the state behind a service's payloads with other nodes, before a response is sent.

A service follows public nodes, and does not remember which of them returned a pool's state. Two nodes must therefore
return the same state again, at the market's block. This happens once per pool and block, in one thread per network.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from swapcli.core.errors import Overloaded
from swapcli.core.model.pool import Pool
from swapcli.faces.service.worker_thread import Worker
from swapcli.quoting.sources.local_quotes import BuiltRoute
from swapcli.quoting.sources.state_confirmation import BuiltState, Confirmation, StateConfirmation
from swapcli.state.rpc.witness_node import Witnesses
from swapcli.state.snapshot_reader import ReadState

TIMEOUT_S: Final = 8.0
MAX_WAITING: Final = 64
"""Maximum number of waiting responses per network. Most find their pools already confirmed."""
_LATE: Final = Confirmation(1, "no second node confirmed the pool state in time")


class StateConfirmer:
    """A checker that lets `witnesses` (by network name) confirm states. Networks without witnesses need no
    confirmation."""

    def __init__(self, witnesses: Mapping[str, Witnesses]) -> None:
        self._threads = {name: _NetworkConfirmer(each) for name, each in witnesses.items()}
        self._workers = {name: Worker(MAX_WAITING) for name in witnesses}

    async def run(self, network_name: str, built: Sequence[BuiltRoute]) -> Confirmation | None:
        """Return how many nodes agree on the state behind payloads, or None if it needs no confirmation.

        Raises `NodesDisagree`.
        """
        if network_name not in self._threads or not built:
            return None
        confirmer = self._threads[network_name]
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await self._workers[network_name].run(lambda _: confirmer.confirm(built))
        except (TimeoutError, Overloaded):
            return _LATE

    def close(self) -> None:
        """End each thread after its current confirmation."""
        for worker in self._workers.values():
            worker.close()


class _NetworkConfirmer:
    """Confirms the states of one network, and remembers those of the latest block."""

    def __init__(self, witnesses: Witnesses) -> None:
        self._witnesses = witnesses
        self._block: int | None = None
        self._confirmed: dict[str, tuple[Pool, Confirmation]] = {}

    def confirm(self, built: Sequence[BuiltRoute]) -> Confirmation:
        return min((self._confirm(each) for each in built), key=lambda each: each.witnesses)

    def _confirm(self, built: BuiltRoute) -> Confirmation:
        market, pools = built.market, built.used_pools
        if market.block is None:
            return Confirmation(1, "the pool state's block is unknown, so no second node can confirm it")
        if market.block != self._block:
            self._block, self._confirmed = market.block, {}
        known = self._confirmed
        new = {key: pool for key, pool in pools.items() if key not in known or known[key][0] != pool}
        if new:
            state = BuiltState(ReadState.of_pools(market, new), new, built.tokens)
            found = StateConfirmation(self._witnesses).finish(state)
            if not found.unconfirmed:
                known.update((key, (pool, found)) for key, pool in new.items())
            return found
        return min((known[key][1] for key in pools), key=lambda each: each.witnesses)
