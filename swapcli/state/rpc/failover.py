"""Fail over between the URLs of one network's nodes: if a node does not respond, the next one gets the same
requests."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from swapcli.core.errors import UpstreamError
from swapcli.state.rpc.json_rpc_client import ConsistencyCheck, JsonRpcClient, RpcRequest, RpcResult
from swapcli.state.rpc.node_limits import NodeLimits
from swapcli.state.rpc.refusals import TREATMENTS, Refusal, refusal_of

if TYPE_CHECKING:
    from swapcli.state.rpc.head_rule import HeadRule


class FailoverClient:
    """Uses the first of `rpcs` until it rejects a request, then the next one, and after the last one the first again.

    `refusals` decides what a refusal means. The node stays in use if it returns a result, if it has pruned the
    requested history, or if a smaller request may succeed. All other requests go to the next node. A node is used only
    if its chain id is `chain_id`. Callers check the chain id of the first node themselves. `report` receives a sentence
    at each switch. If there is a `rule`, it decides the order of the nodes and makes the reports.
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
        self.rule: HeadRule | None = None
        self._of_chain = {0}
        self._not_served: set[tuple[int, str]] = set()
        self.answered: set[int] = set()
        """The indexes of the nodes that have responded since the owner cleared it."""

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
        """Use the node at `index` from now on. The caller must have checked its chain id."""
        self._of_chain.add(index)
        self._current = index

    def prefer(self, index: int) -> None:
        """Use the node at `index` from now on, if it responds and belongs to the chain. Otherwise use the next node
        that does."""
        self._current = index

    def close(self) -> None:
        """Close all connections."""
        for rpc in self._rpcs:
            rpc.close()

    def send(self, requests: Sequence[RpcRequest], check: ConsistencyCheck | None = None) -> list[RpcResult]:
        """Same as `JsonRpcClient.send`. If all nodes reject the requests, raises the first node's error, with the
        problem of each node added. Raises `StaleNode` if no node may be queried."""
        nodes, problems = deque(self._candidates(requests)), dict[int, str]()
        first, failure, failed = nodes[0], None, -1
        is_first_repeated = len(nodes) == 1
        while nodes:
            index = nodes.popleft()
            if index not in self._of_chain and (problem := self._chain_problem(index)):
                problems[index] = problem
                continue
            try:
                results = self._rpcs[index].send(requests, check, has_next=bool(nodes))
            except UpstreamError as error:
                kind = refusal_of(error)
                if kind is None or not _goes_on(kind, requests):
                    self._use(index, failure)
                    raise
                problems[index] = error.message
                if failure is None:
                    failure, failed = error, index
                treatment = TREATMENTS[kind]
                if self.rule is not None and not treatment.for_good:
                    self.rule.fail_read(index, error)
                if treatment.for_good:
                    self._record_not_served(index, error, requests)
                if index == first and not is_first_repeated:
                    is_first_repeated = True
                    if treatment.is_repeated and not treatment.is_repeated_before_next:
                        nodes.append(index)  # it was dropped at once because there were others
            else:
                self.answered.add(index)
                self._use(index, failure)
                return results
        if failure is None:  # only nodes of other chains, or that did not report their chain
            assert self.rule
            raise self.rule.no_node(problems)
        failure.add_problems([problem for index, problem in problems.items() if index != failed])
        raise failure

    def fail_over(self, error: UpstreamError) -> bool:
        """Switch to the next node that belongs to the chain, because of `error`. Return whether there is one."""
        start = self._current
        if self.rule is not None:
            self.rule.fail_read(start, error)
        for index in self._circle():
            if index == start:
                continue
            if index in self._of_chain or not self._chain_problem(index):
                self._use(index, error)
                return True
        return False

    def _candidates(self, requests: Sequence[RpcRequest]) -> list[int]:
        """Return the nodes from the current one on, starting with those that have not rejected one of these methods for
        good."""
        methods = {request.method for request in requests}
        return sorted(self._circle(), key=lambda index: any((index, method) in self._not_served for method in methods))

    def _circle(self) -> list[int]:
        """Return the nodes in the order in which to query them: the current one, unless it is down, then its
        replacements."""
        if self.rule is None:
            count = len(self._rpcs)
            return [(self._current + step) % count for step in range(count)]
        order = self.rule.order()
        if self._current in order and not self.rule.is_failing(self._current):
            order = [self._current, *(index for index in order if index != self._current)]
        if not order:
            raise self.rule.no_node()
        return order

    def _chain_problem(self, index: int) -> str:
        """Read a node's chain id, and remember it if it is the expected one; otherwise return the problem."""
        try:
            (found,) = self._rpcs[index].send([self._chain_request], has_next=True)
        except UpstreamError as error:
            return error.message
        if isinstance(found, str) and found.lower() == hex(self._chain_id):
            self._of_chain.add(index)
            return ""
        return f"{self._rpcs[index].redacted_url} is a node of a different chain"

    def _use(self, index: int, failure: UpstreamError | None) -> None:
        """Use a node from now on; `failure` is why the previous one is not used."""
        if index != self._current:
            self._current = index
            if failure and self.rule is None:
                self._report(f"{failure.message}; using {self.redacted_url} from now on")

    def _record_not_served(self, index: int, error: UpstreamError, requests: Sequence[RpcRequest]) -> None:
        """Note that a node does not support the method that it rejected, or all of these if it rejected all of them."""
        method = error.details.get("method")
        methods = [str(method)] if method else [request.method for request in requests]
        self._not_served.update((index, each) for each in methods)


def _goes_on(kind: Refusal, requests: Sequence[RpcRequest]) -> bool:
    """Return whether to send the same requests to the next node, rather than smaller ones to this node."""
    if kind in (Refusal.TOO_LARGE, Refusal.TIMEOUT) and any(request.is_divisible for request in requests):
        return False
    return TREATMENTS[kind].goes_on
