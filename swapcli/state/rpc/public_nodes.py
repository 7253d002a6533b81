"""Use a network's public nodes as a single node, with hedged requests, proven blocks, and a limit on requests.

`open_public_node` opens it. `read_head` is a race (`node_race`): the two nodes with the best record (`node_records`)
start, the others follow, and the first node to prove its block is read from then on. A block is proven if the node is
on the right chain, returns the block's header, serves state at that block, and is not behind another node. The block
must also be new by the clock, either this machine's or the one on which nodes agree (`network_time`). If the winner
then rejects a request, `failover` sends it to the next node, at the same block. If the block's hash differs there,
`ChainReorganized` makes the caller start again.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar, Final
from urllib.parse import urlsplit

from swapcli.core.errors import LiveUnavailable, StaleNode, UpstreamError
from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.network import Kind, PublicNode
from swapcli.core.records import NamedTuple
from swapcli.families.reading.calls import ContractCall
from swapcli.state.rpc.http_connection import HttpConnection
from swapcli.state.rpc.json_rpc_client import ConsistencyCheck, JsonRpcClient, RpcRequest, RpcResult
from swapcli.state.rpc.network_reachability import Reachability, Resolve, resolve, route_fingerprint
from swapcli.state.rpc.network_time import NetworkTime, Sighting
from swapcli.state.rpc.node import BlockHeader, ChainHead
from swapcli.state.rpc.node_limits_file import NodeLimitsFile
from swapcli.state.rpc.node_race import NodeRace, RaceResult
from swapcli.state.rpc.node_records import UNREACHABLE_S, NodeRecords, UnreachableNetwork
from swapcli.state.rpc.request_budget import UNLIMITED, BudgetedConnection, RenewableConnection, RequestBudget
from swapcli.state.rpc.rpc_node import ATTEMPTS, FailoverNode, NodePolicy, RpcEndpoint, RpcNode, SingleRpcNode, look_at
from swapcli.state.rpc.starknet_node import SingleStarknetNode, StarknetNode

if TYPE_CHECKING:
    from swapcli.state.rpc.run_budget import RunBudget
    from swapcli.state.rpc.witness_node import WitnessNode

_MAX_HEDGE_DELAY_S: Final = 0.5  # before another node is queried as well
_STARTERS: Final = 2  # nodes queried at once in the first round
_RESOLUTION_S: Final = 0.2
"""A nearby name server responds within a few tens of milliseconds. All names are looked up at once, and one of them is
enough."""
_BUDGET_WINDOW_S: Final = 3.0
"""Five requests in three seconds are the 100 requests per minute that HyperEVM's node reportedly accepts."""
_REASON_CHARACTERS: Final = 200  # characters of an error in a node's record
_WITNESS_ATTEMPTS: Final = 2
"""Another node can replace a failing witness, so more attempts would only cost time."""
_IDENTITY: Final = f"0x{4:040x}"
"""The contract at address 4, on EVM chains the precompile that returns its input: the cheapest possible call."""


class PublicEndpoint(NamedTuple):
    """A public node with its documented limits. `redacted_url` is its URL without secrets, for messages; `proxy` is the
    URL of an HTTP proxy, None if there is none. Exchanges also count towards the `run_budget`, if there is one."""

    node: PublicNode
    redacted_url: str
    proxy: str | None = None
    run_budget: RunBudget | None = None

    def connect(self) -> HttpConnection:
        """Return a connection to the node. It is opened when it is first used."""
        return HttpConnection(self.node.url, self.redacted_url, proxy=self.proxy, run_budget=self.run_budget)

    @property
    def host(self) -> str:
        """The host name, with the port unless it is the default."""
        return urlsplit(self.redacted_url).netloc or self.redacted_url

    @property
    def connected_host(self) -> str:
        """The host to which this machine connects: the proxy, if there is one."""
        if self.proxy:
            return urlsplit(self.proxy if "://" in self.proxy else f"http://{self.proxy}").hostname or ""
        return urlsplit(self.node.url).hostname or ""


class _Contestant(SingleRpcNode):
    """A node of an EVM network in a race. It gives up after its first failure if there are other nodes."""

    def __init__(self, rpc: JsonRpcClient, chain_id: int, *, has_next: bool) -> None:
        super().__init__(rpc, chain_id)
        self._client, self._has_next = rpc, has_next

    def _send(self, requests: Sequence[RpcRequest], check: ConsistencyCheck | None = None) -> list[RpcResult]:
        return self._client.send(requests, check, max_timeouts=1, has_next=self._has_next)

    def prove_state(self, block: BlockHeader) -> None:
        """Raise `UpstreamError` unless the node has the state of this block and still has the block itself."""
        self.call_many([ContractCall(_IDENTITY, b"\x01", may_revert=True)], block)


class _StarknetContestant(SingleStarknetNode):
    """The same as `_Contestant`, for Starknet."""

    def __init__(self, rpc: JsonRpcClient, chain_id: int, *, has_next: bool) -> None:
        super().__init__(rpc, chain_id)
        self._client, self._has_next = rpc, has_next

    def _send(self, requests: Sequence[RpcRequest], check: ConsistencyCheck | None = None) -> list[RpcResult]:
        return self._client.send(requests, check, max_timeouts=1, has_next=self._has_next)

    def prove_state(self, block: BlockHeader) -> None:
        """Same as `_Contestant.prove_state`. A missing contract proves the state too: the node has looked for it."""
        self.call_many([ContractCall(_IDENTITY, b"", may_revert=True)], block)


AnyContestant = _Contestant | _StarknetContestant


class _ProvenHead(NamedTuple):
    """A node's proven block. `newest` is its latest block, which is the block of `head` unless another one was
    requested.

    `new_offset_s` is the offset of this machine's clock if the block is new only by a time on which nodes agree in this
    race, otherwise None.
    """

    head: ChainHead
    newest: BlockHeader
    node: AnyContestant
    is_recent: bool
    new_offset_s: float | None = None

    @property
    def number(self) -> int:
        """The number of its latest block."""
        return self.newest.number

    @property
    def is_by_clock(self) -> bool:
        """Whether the block is new by the clock known so far."""
        return self.new_offset_s is None


class _PublicNode(FailoverNode):
    """Several public nodes behaving as one."""

    _contestant_class: ClassVar[type[AnyContestant]]

    def __init__(
        self,
        endpoints: Sequence[PublicEndpoint],
        *,
        chain_id: int,
        policy: NodePolicy,
        block_time_s: float | None,
        is_required: bool,
        records: NodeRecords,
        resolve_name: Resolve,
        gas_price_wei: int | None,
    ) -> None:
        budgets = [each.node.quote_requests for each in endpoints if each.node.quote_requests is not None]
        self.budget = RequestBudget(min(budgets, default=UNLIMITED), _BUDGET_WINDOW_S)
        self._endpoints, self._records, self._is_required = endpoints, records, is_required
        self._live_timeout_s, self._resolve = policy.timeout_s, resolve_name
        self._network_time, self._race_ends_s = NetworkTime(block_time_s, records.now_s), 0.0
        self._connections = [self._connection(each) for each in endpoints]
        super().__init__(
            [
                RpcEndpoint(each.node.url, each.redacted_url, proxy=each.proxy, connection=connection)
                for each, connection in zip(endpoints, self._connections, strict=True)
            ],
            chain_id,
            policy._replace(documented=[each.node for each in endpoints]),
            gas_price_wei=gas_price_wei,
            network_time=self._network_time,
        )
        self._winner: int | None = None

    def _connection(self, endpoint: PublicEndpoint) -> RenewableConnection:
        def connect() -> BudgetedConnection:
            return BudgetedConnection(endpoint.connect(), self.budget)

        return RenewableConnection(connect)

    @property
    def host(self) -> str:
        """The host that is read: the winner of the last race, or its replacement."""
        return self._endpoints[self._failover.current].host

    @property
    def requests_left(self) -> int:
        """The requests that may still be sent for the current block."""
        return self.budget.left

    def allow_requests(self, max_requests: int) -> None:
        """Same as `BudgetedNode.allow_requests`."""
        self.budget.allow(max_requests)

    @property
    def sole_reader(self) -> str:
        """The host of the only node that has returned data since `read_head`; empty if several have."""
        answered = self._failover.answered
        return self._endpoints[next(iter(answered))].host if len(answered) == 1 else ""

    def open_witnesses(self, multicall: str | None, *, includes_reader: bool = False) -> Iterator[WitnessNode]:
        """Yield each node separately, starting with those that have returned nothing since `read_head`.

        A node that has returned all data would confirm itself, so it is skipped unless `includes_reader`. Each has its
        own connection and budget. The caller closes them.
        """
        from swapcli.state.rpc.witness_node import WitnessNode

        answered, hosts = self._failover.answered, [each.host for each in self._endpoints]
        if self._winner is None:
            self._records.load(hosts)
        order = self._records.in_order(hosts)
        repeated = [index for index in order if index in answered] if includes_reader or len(answered) > 1 else []
        for index in (*(index for index in order if index not in answered), *repeated):
            endpoint = self._endpoints[index]
            budget = RequestBudget(endpoint.node.quote_requests or UNLIMITED, _BUDGET_WINDOW_S)
            connection = BudgetedConnection(endpoint.connect(), budget)
            client = JsonRpcClient(
                connection,
                self._live_timeout_s,
                _WITNESS_ATTEMPTS,
                time.sleep,
                self._limits[endpoint.node.url],
            )
            node = self._contestant_class(client, self._chain_id, has_next=False)
            node.gas_price_wei = self.gas_price_wei
            yield WitnessNode(
                node,
                endpoint.host,
                multicall,
                block_time_s=self._network_time.block_time_s,
                close_node=client.close,
                abort=connection.abandon,
            )

    @contextmanager
    def checking(self, max_requests: int) -> Iterator[None]:
        """Use a different node than the one that was read, and allow this many requests, while the context lasts.

        If the others fail, the first one is used. If none was read, one is found first.
        """
        if self._winner is None:
            self.read_head()
        first, answered = self._failover.current, self._failover.answered
        order = self._records.in_order([each.host for each in self._endpoints])
        others = [index for index in order if index not in answered]
        self.budget.allow(max_requests + bool(others))
        if others:
            self._failover.prefer(others[0])
            self._winner = others[0]
        try:
            yield
        finally:
            self._note_failover()
            self._failover.use(first)
            self._winner = first

    def read_head(self, tag: BlockTag = BlockTag.LATEST, *, code_of: str | None = None) -> ChainHead:
        """Same as `Node.read_head`, of the first node that proves its block. Raises `LiveUnavailable`."""
        self._note_failover()
        self.budget.start()
        hosts = [each.host for each in self._endpoints]
        connected_hosts = [each.connected_host for each in self._endpoints]
        route = route_fingerprint(connected_hosts) if self._winner is None else ""
        if self._winner is None:
            self._records.load(hosts)
            remembered = None if self._is_required else self._records.unreachable(route)
            if remembered:
                raise self._unreachable(remembered.reason, self._records.now_s() - remembered.seen_at_s)
        order = self._records.in_order(hosts)
        if self._winner is not None:  # it has just responded well, so others start only if it is slow now
            order = [self._failover.current, *(index for index in order if index != self._failover.current)]
        self._network_time.forget()
        self._race_ends_s = time.monotonic() + self._live_timeout_s
        result = self._race(order, connected_hosts, lambda node: node.read_head(tag, code_of=code_of))
        if result.proof is not None and not result.proof.is_by_clock:
            result = self._with_time_checked(result)
        self._keep_records(result, route)
        for index in result.elapsed_s:
            self._connections[index].renew()
        if result.proof is None or result.winner is None:
            raise self._failure(result)
        self._winner = result.winner
        self._failover.use(result.winner)
        self._failover.answered = {result.winner}
        self._follow(result.proof)
        offset_s = self._network_time.offset_s
        return result.proof.head._replace(clock_offset_s=offset_s) if offset_s else result.proof.head

    def _with_time_checked(self, result: RaceResult[_ProvenHead]) -> RaceResult[_ProvenHead]:
        """Return the result of a race whose winner is new by a clock other than this machine's.

        The winner counts only if all nodes that have responded since still prove that time.
        """
        assert result.winner is not None
        verdict = self._network_time.verdict()
        if verdict.offset_s is not None and self._endpoints[result.winner].host in verdict.nodes:
            self._network_time.trust(verdict.offset_s)
            agreeing = {index for index, each in enumerate(self._endpoints) if each.host in verdict.nodes}
            failures = {index: error for index, error in result.failures.items() if index not in agreeing}
            return result._replace(failures=failures)
        failures = {**result.failures, result.winner: StaleNode("other nodes have a different time")}
        return result._replace(winner=None, proof=None, failures=failures)

    def _race(
        self, order: Sequence[int], connected_hosts: Sequence[str], read: Callable[[AnyContestant], ChainHead]
    ) -> RaceResult[_ProvenHead]:
        is_first = self._winner is None
        resolution_s = self._live_timeout_s if self._is_required else self._records.usual_latency_s or _RESOLUTION_S
        race: NodeRace[_ProvenHead] = NodeRace(
            order,
            lambda index: self._prove(index, read),
            starters=_STARTERS if is_first else 1,
            hedge_delay_s=min(_MAX_HEDGE_DELAY_S, self._live_timeout_s / 4),
            timeout_s=self._live_timeout_s,
            reachability=Reachability(connected_hosts if is_first else (), self._resolve),
            resolution_s=min(max(resolution_s, _RESOLUTION_S), self._live_timeout_s),
        )
        return race.run()

    def _prove(self, index: int, read: Callable[[AnyContestant], ChainHead]) -> _ProvenHead:
        """Return the block that a node proves; runs in a separate thread. Raises `UpstreamError`."""
        endpoint, is_alone = self._endpoints[index], len(self._endpoints) == 1
        client = JsonRpcClient(
            self._connections[index].current,
            self._live_timeout_s,
            ATTEMPTS if is_alone else 1,
            time.sleep,
            self._limits[endpoint.node.url],
        )
        node = self._contestant_class(client, self._chain_id, has_next=not is_alone)
        node.gas_price_wei = self.gas_price_wei
        has_state = self._prepare(node)
        head = read(node)
        if not is_alone and isinstance(head.gas_price, UpstreamError):
            raise head.gas_price
        newest = node.newest
        assert newest
        offset_s = None
        sighting = self._network_time.see(newest.number, newest.timestamp, client.date)
        if not self._network_time.fits(sighting):
            offset_s = self._agreed_offset_s(endpoint, sighting)
        is_known = is_alone or self._records.record_of(endpoint.host).is_proven(self._records.now_s())
        if not is_known and not has_state():
            node.prove_state(newest)
        is_recent = offset_s is None and self._network_time.is_recent(newest.timestamp)
        return _ProvenHead(head, newest, node, is_recent, offset_s)

    def _agreed_offset_s(self, endpoint: PublicEndpoint, sighting: Sighting) -> float:
        """Return the offset of this machine's clock if nodes agree that it is wrong. Otherwise raises `StaleNode`."""
        verdict = self._network_time.compare(endpoint.host, sighting, self._look, self._race_ends_s)
        if verdict.offset_s is None or endpoint.host not in verdict.nodes:
            if self._network_time.is_current(sighting.block_s):
                raise StaleNode(
                    f"{endpoint.redacted_url}: its latest block is old, according to the date of its response"
                )
            age_s = self._network_time.age_s(sighting.block_s)
            where = f"{age_s:,.0f} s old" if age_s > 0.0 else f"{-age_s:,.0f} s in the future"
            raise StaleNode(f"{endpoint.redacted_url}: its latest block is {where} by this machine's clock")
        return verdict.offset_s

    def _look(self, host: str) -> Sighting | None:
        """Same as `FailoverNode._look`, over a separate connection, as another thread may use the node's."""
        endpoint = next(each for each in self._endpoints if each.host == host)
        connection, limits = self._connection(endpoint), self._limits[endpoint.node.url]
        client = JsonRpcClient(connection, self._live_timeout_s, 1, time.sleep, limits)
        try:
            return look_at(self._contestant_class(client, self._chain_id, has_next=True), client, self._network_time)
        finally:
            connection.close()

    def _prepare(self, node: AnyContestant) -> Callable[[], bool]:
        """Prepare a node of a race; return what says whether its head then came with proof of its newest state."""
        del node
        return bool

    @abstractmethod
    def _follow(self, proven: _ProvenHead) -> None:
        """Adopt the winner's data about its latest block."""

    def _keep_records(self, result: RaceResult[_ProvenHead], route: str) -> None:
        now_s, records = self._records.now_s(), {}
        hosts = [each.host for each in self._endpoints]
        for index in result.failures if result.network_problem is None else ():
            records[hosts[index]] = self._records.record_of(hosts[index]).with_failure(now_s)
        for index, elapsed_s in result.elapsed_s.items() if result.network_problem is None else ():
            record = self._records.record_of(hosts[index])
            is_late = result.winner is None
            records[hosts[index]] = record.with_failure(now_s) if is_late else record.with_loss(elapsed_s)
        if result.winner is not None:
            host = hosts[result.winner]
            records[host] = self._records.record_of(host).with_success(result.latency_s, now_s)
        network = UnreachableNetwork(now_s, result.network_problem, route) if result.network_problem else None
        self._records.save(records, network)

    def _failure(self, result: RaceResult[_ProvenHead]) -> LiveUnavailable:
        """Return why no node has proven its block."""
        if result.network_problem:
            return self._unreachable(result.network_problem)
        failures = []
        for index, each in enumerate(self._endpoints):
            error = result.failures.get(index)
            late = "did not respond in time" if index in result.elapsed_s else "no time was left to try it"
            failures.append((each.host, _reason(error.message, each) if error else late))
        reasons = "; ".join(f"{host}: {reason}" for host, reason in failures)
        is_time = any(isinstance(error, StaleNode) for error in result.failures.values())
        return LiveUnavailable(
            f"no public node responded within {self._live_timeout_s:g} s ({reasons})",
            failures,
            hint=f"{'check the clock of this machine' if is_time else 'try again'}, or set a node with --rpc-url",
        )

    def _unreachable(self, reason: str, seen_s_ago: float | None = None) -> LiveUnavailable:
        """Return the error for a machine without a network, which was noticed now or some seconds ago."""
        memory, hint = "", "check the network connection, or set a node with --rpc-url"
        if seen_s_ago is not None:
            memory = f" (found {seen_s_ago:.0f} s ago, remembered for {UNREACHABLE_S:.0f} s)"
            left_s = max(UNREACHABLE_S - seen_s_ago, 1.0)
            hint = f"if it is connected now, try again in {left_s:.0f} s, or add --live to try at once"
        return LiveUnavailable(
            f"this machine has no network connection: {reason}{memory}",
            [(each.host, reason) for each in self._endpoints],
            is_network_unreachable=True,
            hint=hint,
        )

    def _note_failover(self) -> None:
        """Record the failure of the last winner if another node has replaced it."""
        if self._winner is not None and self._failover.current != self._winner:
            host = self._endpoints[self._winner].host
            self._records.save({host: self._records.record_of(host).with_failure(self._records.now_s())})
            self._winner = self._failover.current

    def close(self) -> None:
        """Close the connections, and save what was learned about the nodes."""
        self._note_failover()
        super().close()


class PublicRpcNode(_PublicNode, RpcNode):
    """The public nodes of an EVM network as a single `RpcNode`; see `open_public_node`."""

    _contestant_class = _Contestant

    def _prepare(self, node: AnyContestant) -> Callable[[], bool]:
        assert isinstance(node, SingleRpcNode)
        ahead = node.ahead = self.ahead
        if ahead is None:
            return bool

        def has_state() -> bool:
            """Return whether calls have seen the block: a node without its state may return older or other data.

            As with `prove_state`, a node that lies can pass; the witnesses of a payload are for that.
            """
            results, newest = node.ahead_results, node.newest
            return (
                ahead is not None and results is not None and newest is not None and ahead.proves(results.calls, newest)
            )

        return has_state

    def _follow(self, proven: _ProvenHead) -> None:
        assert isinstance(proven.node, SingleRpcNode)
        self.ahead_results = proven.node.ahead_results
        self._newest, self._newest_bloom = proven.newest, proven.node.newest_bloom


class PublicStarknetNode(_PublicNode, StarknetNode):
    """Public Starknet nodes as a single `StarknetNode`; see `open_public_node`."""

    _contestant_class = _StarknetContestant

    def _follow(self, proven: _ProvenHead) -> None:
        self._newest = proven.newest


AnyPublicNode = PublicRpcNode | PublicStarknetNode
_CLASSES: Final[Mapping[Kind, type[AnyPublicNode]]] = {
    Kind.EVM: PublicRpcNode,
    Kind.STARKNET: PublicStarknetNode,
}


def open_public_node(
    endpoints: Sequence[PublicEndpoint],
    *,
    kind: Kind,
    chain_id: int,
    block_time_s: float | None,
    live_timeout_s: float = 3.0,
    is_required: bool = False,
    report: Callable[[str], object] = bool,
    records: NodeRecords | None = None,
    limits_file: NodeLimitsFile | None = None,
    burst: int = 0,
    resolve_name: Resolve = resolve,
    gas_price_wei: int | None = None,
) -> AnyPublicNode:
    """Open a network's public nodes as a single node, which is an `RpcNode` or a `StarknetNode`.

    Nothing is sent before the first `read_head`, which returns within `live_timeout_s` or raises `LiveUnavailable` with
    the host and the reason for each node. Without a network connection, it raises after 0.2 s, and immediately during
    the next minute. If a live price `is_required`, names are resolved for up to `live_timeout_s`, and a remembered
    unreachable network is ignored.

    All requests until the next `read_head` share one budget, the lowest `quote_requests` of the nodes. Once it is used
    up, reads raise `RequestBudgetSpent`. `requests_left` is the number of requests left, and `host` the node that is
    read. `report` receives a sentence when another node replaces it. `records` and `limits_file` remember how nodes
    responded; `burst` is as in `NodeLimits`. Blocks are compared with the clock of `records`. If nodes agree that it is
    wrong, `clock_offset_s` of the head, and of the node, has the seconds to add to it. `gas_price_wei` replaces the gas
    price of EVM nodes. Raises `ConfigError` for an invalid URL or proxy. Not thread-safe.
    """
    return _CLASSES[kind](
        endpoints,
        chain_id=chain_id,
        policy=NodePolicy(live_timeout_s, report=report, limits_file=limits_file, burst=burst),
        block_time_s=block_time_s,
        is_required=is_required,
        records=records or NodeRecords(None),
        resolve_name=resolve_name,
        gas_price_wei=gas_price_wei,
    )


def _reason(message: str, endpoint: PublicEndpoint) -> str:
    """Return an error's message without the node's address, which is shown next to it."""
    for address in (endpoint.redacted_url, endpoint.host):
        message = message.removeprefix(address).lstrip(": ")
    return message[:_REASON_CHARACTERS]
