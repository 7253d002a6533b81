"""Several URLs of nodes of one network: if one does not answer, the same requests go to the next."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from swapcli.core.errors import UpstreamError
from swapcli.state.rpc.json_rpc_client import ConsistencyCheck, JsonRpcClient, RpcRequest, RpcResult
from swapcli.state.rpc.node_limits import NodeLimits
from swapcli.state.rpc.refusals import TREATMENTS, Refusal, refusal_of


class FailoverClient:
    """Uses the first of `rpcs` until it refuses something, then the next, in a circle.

    `refusals` says what a refusal means. A result, history that is gone, and what the caller can make smaller stay with
    the node; everything else goes to the next one. A node is used only if its chain id is `chain_id`, except the first,
    whose callers check that. `report` takes a sentence at each switch.
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
        self._of_chain = {0}
        self._not_served: set[tuple[int, str]] = set()
        self.answered: set[int] = set()
        """The indexes of the nodes that have answered a request since the owner cleared it."""

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

    @property
    def current(self) -> int:
        """The index of the current node."""
        return self._current

    def use(self, index: int) -> None:
        """Use this node from now on. The caller has checked its chain id."""
        self._of_chain.add(index)
        self._current = index

    def prefer(self, index: int) -> None:
        """Use this node from now on if it belongs to the chain and responds, otherwise the next one."""
        self._current = index

    def close(self) -> None:
        """Close all connections."""
        for rpc in self._rpcs:
            rpc.close()

    def send(self, requests: Sequence[RpcRequest], check: ConsistencyCheck | None = None) -> list[RpcResult]:
        """As `JsonRpcClient.send`. If all nodes refuse, raise the error of the first."""
        nodes = deque(self._candidates(requests))
        first, failure = nodes[0], None
        is_first_repeated = len(nodes) == 1
        while nodes:
            index = nodes.popleft()
            if index not in self._of_chain and not self._is_of_chain(index):
                continue
            try:
                results = self._rpcs[index].send(requests, check, has_next=bool(nodes))
            except UpstreamError as error:
                kind = refusal_of(error)
                if kind is None or not _goes_on(kind, requests):
                    self._use(index, failure)
                    raise
                failure = failure or error
                treatment = TREATMENTS[kind]
                if treatment.for_good:
                    self._record_not_served(index, error, requests)
                if index == first and not is_first_repeated:
                    is_first_repeated = True
                    if treatment.is_repeated and not treatment.is_repeated_before_next:
                        nodes.append(index)  # it was left at once, as there were others
            else:
                self.answered.add(index)
                self._use(index, failure)
                return results
        assert failure
        raise failure

    def fail_over(self, error: UpstreamError) -> bool:
        """Switch to the next node of the chain because of this error. Return whether there is one."""
        count, start = len(self._rpcs), self._current
        for index in ((start + step) % count for step in range(1, count)):
            if index in self._of_chain or self._is_of_chain(index):
                self._use(index, error)
                return True
        return False

    def _candidates(self, requests: Sequence[RpcRequest]) -> list[int]:
        """Return the nodes from the current one on; first those that have not refused one of these methods for good."""
        count = len(self._rpcs)
        circle = [(self._current + step) % count for step in range(count)]
        methods = {request.method for request in requests}
        return sorted(circle, key=lambda index: any((index, method) in self._not_served for method in methods))

    def _is_of_chain(self, index: int) -> bool:
        """Ask a node for its chain id, and remember it if that is the expected one."""
        try:
            (found,) = self._rpcs[index].send([self._chain_request], has_next=True)
        except UpstreamError:
            return False
        if isinstance(found, str) and found.lower() == hex(self._chain_id):
            self._of_chain.add(index)
        return index in self._of_chain

    def _use(self, index: int, failure: UpstreamError | None) -> None:
        """Use a node from now on; `failure` is why another one is not used."""
        if index != self._current:
            self._current = index
            if failure:
                self._report(f"{failure.message}; asking {self.redacted_url} from now on")

    def _record_not_served(self, index: int, error: UpstreamError, requests: Sequence[RpcRequest]) -> None:
        """Take note that a node does not serve the method that it refused, or all of these if it refused them all."""
        method = error.details.get("method")
        methods = [str(method)] if method else [request.method for request in requests]
        self._not_served.update((index, each) for each in methods)


def _goes_on(kind: Refusal, requests: Sequence[RpcRequest]) -> bool:
    """Return whether the next node gets the same requests, rather than this one smaller ones."""
    if kind in (Refusal.TOO_LARGE, Refusal.TIMEOUT) and any(request.is_divisible for request in requests):
        return False
    return TREATMENTS[kind].goes_on
