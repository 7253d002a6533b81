"""Several URLs of nodes of one network: if one fails, the next is used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from swapcli.chain.json_rpc import ConsistencyCheck, JsonRpcClient, RpcRequest, RpcResult
from swapcli.errors import InvalidUpstreamResponse, Unreachable, UpstreamError, UpstreamRejected, UpstreamTimeout

_CHAIN_ID: Final = RpcRequest("eth_chainId", ())
_LOGS: Final = "eth_getLogs"


class FailoverClient:
    """Asks the first of `rpcs` until it fails, then the next, and so on, in a circle.

    A node is asked only if it is of the chain `chain_id`, unless it is the first. `report` takes a sentence each time
    that another one is asked. A request that a node refuses although it answers others is refused: it would be so by
    the next one, too.
    """

    def __init__(self, rpcs: Sequence[JsonRpcClient], chain_id: int, report: Callable[[str], object]) -> None:
        self._rpcs, self._chain_id, self._report = rpcs, chain_id, report
        self._current = 0

    @property
    def shown(self) -> str:
        """What people may see of the address that is asked now."""
        return self._rpcs[self._current].shown

    @property
    def round_trips(self) -> int:
        """Exchanges so far, with all of them."""
        return sum(rpc.round_trips for rpc in self._rpcs)

    def close(self) -> None:
        """Let go of all connections."""
        for rpc in self._rpcs:
            rpc.close()

    def send(self, requests: Sequence[RpcRequest], check: ConsistencyCheck | None = None) -> list[RpcResult]:
        """As `JsonRpc.ask`. Where all of them fail, it raises the error of the first one that was asked."""
        failure: UpstreamError | None = None
        for _ in self._rpcs:
            try:
                return self._rpcs[self._current].send(requests, check)
            except UpstreamError as error:
                if len(self._rpcs) == 1 or not self._is_down(error, requests):
                    raise
                failure = failure or error
                if not self.fail_over(error):
                    break
        assert failure
        raise failure

    def fail_over(self, error: UpstreamError) -> bool:
        """Go on with the next one that is of the chain, because of that error. Return whether there is one."""
        count, start = len(self._rpcs), self._current
        for step in range(1, count):
            index = (start + step) % count
            try:
                (found,) = self._rpcs[index].send([_CHAIN_ID])
            except UpstreamError:
                continue
            if isinstance(found, str) and found.lower() == hex(self._chain_id):
                self._current = index
                self._report(f"{error.message}; asking {self.shown} from now on")
                return True
        return False

    def _is_down(self, error: UpstreamError, requests: Sequence[RpcRequest]) -> bool:
        """Return whether another node could answer what this one did not."""
        if isinstance(error, Unreachable) or type(error) is InvalidUpstreamResponse:
            return True
        if isinstance(error, UpstreamTimeout):
            return all(request.method != _LOGS for request in requests)
        if not isinstance(error, UpstreamRejected):
            return False
        try:
            self._rpcs[self._current].send([_CHAIN_ID])
        except UpstreamError:
            return True
        return False
