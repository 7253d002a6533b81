"""Several URLs of nodes of one network: if one fails, the next is used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from swapcli.errors import InvalidUpstreamResponse, Unreachable, UpstreamError, UpstreamRejected, UpstreamTimeout
from swapcli.state.rpc.json_rpc_client import ConsistencyCheck, JsonRpcClient, RpcRequest, RpcResult
from swapcli.state.rpc.node_limits import NodeLimits

_LOG_METHODS: Final = frozenset({"eth_getLogs", "starknet_getEvents"})


class FailoverClient:
    """Uses the first of `rpcs` until it fails, then the next, in a circle.

    Every node but the first is used only if its chain id is `chain_id`. `report` takes a sentence at each switch. A
    request that a working node rejects is not sent to the next one, which would reject it too.
    """

    def __init__(
        self,
        rpcs: Sequence[JsonRpcClient],
        chain_id: int,
        report: Callable[[str], object],
        chain_id_method: str = "eth_chainId",
    ) -> None:
        self._rpcs, self._chain_id, self._report = rpcs, chain_id, report
        self._chain_request = RpcRequest(chain_id_method, ())
        self._current = 0

    @property
    def redacted_url(self) -> str:
        """The current URL without credentials, for messages."""
        return self._rpcs[self._current].redacted_url

    @property
    def limits(self) -> NodeLimits:
        """The limits of the current node."""
        return self._rpcs[self._current].limits

    @property
    def round_trips(self) -> int:
        """The number of exchanges so far, with all nodes."""
        return sum(rpc.round_trips for rpc in self._rpcs)

    def close(self) -> None:
        """Close all connections."""
        for rpc in self._rpcs:
            rpc.close()

    def send(self, requests: Sequence[RpcRequest], check: ConsistencyCheck | None = None) -> list[RpcResult]:
        """As `JsonRpcClient.send`. If all nodes fail, raise the error of the first."""
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
        """Switch to the next node of the chain because of this error. Return whether there is one."""
        count, start = len(self._rpcs), self._current
        for step in range(1, count):
            index = (start + step) % count
            try:
                (found,) = self._rpcs[index].send([self._chain_request])
            except UpstreamError:
                continue
            if isinstance(found, str) and found.lower() == hex(self._chain_id):
                self._current = index
                self._report(f"{error.message}; asking {self.redacted_url} from now on")
                return True
        return False

    def _is_down(self, error: UpstreamError, requests: Sequence[RpcRequest]) -> bool:
        """Return whether another node could answer what this one did not."""
        if isinstance(error, Unreachable) or type(error) is InvalidUpstreamResponse:
            return True
        if isinstance(error, UpstreamTimeout):
            return all(request.method not in _LOG_METHODS for request in requests)
        if not isinstance(error, UpstreamRejected):
            return False
        try:
            self._rpcs[self._current].send([self._chain_request])
        except UpstreamError:
            return True
        return False
