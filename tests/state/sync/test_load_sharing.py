"""Several nodes share the reads of a sync: each its part, and none can make the store wrong."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from swapcli.core.errors import UpstreamTimeout
from swapcli.state.rpc.node_limits_file import NodeLimitsFile
from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint, RpcNode
from swapcli.state.store import Store
from swapcli.state.sync import count_skipped
from tests.chain import proxy as failures
from tests.chain.anvil import CHAIN_ID, running_anvil
from tests.chain.node.server import Failure, Handler, hangs_up, limits_requests, says, stays_silent
from tests.chain.proxy import Proxy, open_proxy
from tests.chain.sync.expected_state import check_true, store_at, synced
from tests.chain.sync.factory_chain import EVERY_PROTOCOL, TestChain
from tests.examples import few
from tests.support.chain import connected, restored

BLOCKS = 150
NODES = 3
REQUESTS_PER_S = 60


@pytest.fixture(scope="module")
def prepared_chain(factory_chain: TestChain) -> Iterator[TestChain]:
    """A chain with pools early and late in its many blocks."""
    rng = Random("sharing")
    with restored(factory_chain) as local_chain:
        for _ in range(3):
            for name in EVERY_PROTOCOL:
                local_chain.create_pool(rng, name)
            local_chain.chain.node.ask("anvil_mine", hex(BLOCKS // 3))
        yield local_chain


@pytest.fixture
def proxies(local_chain: TestChain) -> Iterator[list[Proxy]]:
    with ExitStack() as stack:
        yield [stack.enter_context(open_proxy(local_chain.chain.node.port)) for _ in range(NODES)]


@pytest.fixture
def store(local_chain: TestChain, tmp_path: Path) -> Iterator[Store]:
    with store_at(tmp_path / "store", local_chain.network) as made:
        yield made


@contextmanager
def sharing(
    urls: Sequence[str], folder: Path, reported: list[str] | None = None, timeout_s: float = 20.0
) -> Iterator[RpcNode]:
    """Connect to several nodes that share reads; small aggregates and ranges make parts even of this small chain."""
    file = NodeLimitsFile(folder / "limits.json")
    for url in urls:
        limits = file.load(url)
        if not limits.document():
            limits.aggregate_calls.reject(24, now_s=time.time())
            limits.log_blocks.value, limits.log_blocks.rejected_at_s = 8.0, time.time()
            file.save({url: limits})
    first, *spares = (RpcEndpoint(url, f"node {at}") for at, url in enumerate(urls, 1))
    report: Callable[[str], object] = bool if reported is None else reported.append
    with closing(
        RpcNode(
            [RpcEndpoint(first.url, first.redacted_url), *spares],
            CHAIN_ID,
            NodePolicy(
                timeout_s=timeout_s,
                pause=lambda seconds: time.sleep(min(seconds, 0.05)),
                report=report,
                limits_file=file,
                shares_load=True,
            ),
        )
    ) as node:
        yield node


def urls_of(proxies: Sequence[Proxy]) -> list[str]:
    return [proxy.url for proxy in proxies]


def count(proxy: Proxy, method: str) -> int:
    return proxy.methods.count(method)


def check_complete(store: Store, local_chain: TestChain) -> None:
    """Check that the store has every pool in its state, read by a single honest node."""
    with connected(local_chain.chain) as honest:
        check_true(store, honest, local_chain.pools)
    assert count_skipped(store) == ()


@pytest.mark.slow
def test_each_node_reads_a_part(local_chain: TestChain, proxies: list[Proxy], store: Store, tmp_path: Path) -> None:
    for proxy in proxies:
        proxy.always = failures.late(0.01)
    with sharing(urls_of(proxies), tmp_path) as node:
        synced(store, node)
    check_complete(store, local_chain)
    for method, share in (("eth_call", 0.05), ("eth_getLogs", 0.15)):  # few calls are left after the first of each kind
        parts = [count(proxy, method) for proxy in proxies]
        assert min(parts) >= share * sum(parts), method


def test_nothing_is_read_twice(proxies: list[Proxy], store: Store, tmp_path: Path) -> None:
    ranges: list[tuple[int, int]] = []

    def records(handler: Handler) -> bool:
        for request in handler.requests:
            if request["method"] == "eth_getLogs" and "topics" in request["params"][0]:
                first, last = (int(request["params"][0][name], 16) for name in ("fromBlock", "toBlock"))
                ranges.append((first, last))
        return False

    for proxy in proxies:
        proxy.always = records
    with sharing(urls_of(proxies), tmp_path) as node:
        synced(store, node)
    ends = sorted(ranges)
    assert ends[0][0] == 0
    assert all(last + 1 == first for (_, last), (first, _) in pairwise(ends))


def sync_at_full_rate(proxies: Sequence[Proxy], network_store: Store, folder: Path) -> int:
    """Sync with the limits that nodes of this URL have shown; return the requests that the busiest node answered.

    At a limit of requests per second they are the time that the sync takes, on a machine of any speed.
    """
    first, *spares = (RpcEndpoint(url, f"node {at}") for at, url in enumerate(urls_of(proxies), 1))
    before = [len(proxy.methods) for proxy in proxies]
    with closing(
        RpcNode(
            [RpcEndpoint(first.url, first.redacted_url), *spares],
            CHAIN_ID,
            NodePolicy(limits_file=NodeLimitsFile(folder / "limits.json"), shares_load=True),
        )
    ) as node:
        synced(network_store, node)
    return max(len(proxy.methods) - count for proxy, count in zip(proxies, before, strict=True))


@pytest.mark.slow
def test_nodes_with_limits_are_faster_together(local_chain: TestChain, proxies: list[Proxy], tmp_path: Path) -> None:
    rejections: list[list[int]] = [[] for _ in proxies]
    requests: list[int] = []
    for run, nodes in enumerate((NODES, 1, NODES)):
        for proxy, rejected in zip(proxies, rejections, strict=True):
            rejected.clear()
            limited_logs, limited_requests = failures.limits_logs(16), limits_requests(REQUESTS_PER_S, rejected)
            proxy.always = lambda handler, a=limited_requests, b=limited_logs: a(handler) or b(handler)
        with store_at(tmp_path / f"store-{run}", local_chain.network) as store:
            requests.append(sync_at_full_rate(proxies[:nodes], store, tmp_path))
            check_complete(store, local_chain)
        if run == 0:
            assert all(rejections), "every node has limits"
        time.sleep(1.0)
    assert requests[1] >= 1.7 * requests[2], requests
    # A busy machine delays some requests until others catch up with them: each node may reject two.
    assert sum(map(len, rejections)) <= 2 * NODES, "what the first sync has learned is remembered"


class Misbehaviour(NamedTuple):
    """A way in which one of the nodes fails."""

    name: str
    start: Callable[[], Failure]
    is_reported: bool = True


def after(count: int, failure: Failure) -> Failure:
    """Fail after a number of exchanges, for good."""
    turn = iter(range(1 << 62))
    return lambda handler: next(turn) >= count and failure(handler)


MISBEHAVIOURS = (
    Misbehaviour("is dead", lambda: hangs_up),
    Misbehaviour("dies in the middle", lambda: after(4, hangs_up)),
    Misbehaviour("has no credit", lambda: says(403)),
    Misbehaviour("is busy from some time on", lambda: after(8, says(503))),
    Misbehaviour("rejects everything as too much", lambda: says(429)),
    Misbehaviour("is behind", lambda: failures.stale(100), is_reported=False),
    Misbehaviour("is of another chain", lambda: failures.moves_to(1)),
    Misbehaviour("responds with other blocks", failures.ignores_block_numbers, is_reported=False),
    Misbehaviour("returns nothing for calls", lambda: failures.empties_calls(Random(1))),
    Misbehaviour("answers some calls with nothing", lambda: failures.empties_calls(Random(7), 0.2)),
    Misbehaviour("has no events", lambda: failures.without("eth_getLogs")),
    Misbehaviour("omits all events", lambda: failures.withholds_logs(Random(3), 1.0)),
    Misbehaviour("sends no JSON", lambda: says(200, b"<html>")),
)


@pytest.mark.parametrize("misbehaviour", few(MISBEHAVIOURS, 1), ids=lambda each: each.name)
@pytest.mark.parametrize("bad_count", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_others_read_the_share_of_a_bad_node(
    local_chain: TestChain,
    proxies: list[Proxy],
    store: Store,
    tmp_path: Path,
    misbehaviour: Misbehaviour,
    bad_count: int,
) -> None:
    reported: list[str] = []
    failure = misbehaviour.start()
    honest, bad = proxies[: NODES - bad_count], proxies[NODES - bad_count :]
    for proxy in honest if misbehaviour.is_reported else ():  # so that a bad node fails before the work is done
        proxy.always = lambda handler: not reported and failures.late(0.01)(handler)
    for proxy in bad:
        proxy.always = failure
    if misbehaviour.name == "responds with other blocks":
        local_chain.chain.node.ask("evm_mine")
    with sharing(urls_of(proxies), tmp_path, reported) as node:
        synced(store, node)
    check_complete(store, local_chain)
    if misbehaviour.is_reported:
        assert reported
        assert all(each.endswith("; the other nodes take over its share") for each in reported)
        assert len(reported) <= bad_count, "each node is reported once"


def test_a_silent_helper_gives_up_after_one_timeout(proxies: list[Proxy], tmp_path: Path) -> None:
    with sharing(urls_of(proxies), tmp_path, timeout_s=0.4) as node:
        head = node.read_head().block
        helper = node.helpers(head)[1]
        helper.read_block(1)
        received: list[Handler] = []

        def silent(handler: Handler) -> bool:
            received.append(handler)
            return stays_silent(handler)

        proxies[1].always = silent
        with pytest.raises(UpstreamTimeout):
            helper.call("0x" + "11" * 20, b"", head)
        assert len(received) == 1


def test_a_fork_of_the_chain_at_the_same_height_is_not_read(
    local_chain: TestChain, store: Store, tmp_path: Path
) -> None:
    """Another chain with the same id, of the same length."""
    with running_anvil() as other:
        head = local_chain.height()
        other.node.ask("anvil_mine", hex(head))
        with open_proxy(local_chain.chain.node.port) as honest, open_proxy(other.node.port) as forked:
            with sharing([honest.url, forked.url], tmp_path) as node:
                synced(store, node)
            assert forked.methods
    check_complete(store, local_chain)


def test_without_any_healthy_helper_the_sync_fails_as_before(
    local_chain: TestChain, proxies: list[Proxy], store: Store, tmp_path: Path
) -> None:
    for proxy in proxies:
        proxy.always = after(8, hangs_up)
    with (
        sharing(urls_of(proxies), tmp_path) as node,
        pytest.raises(Exception, match="node 1 closed the connection before it responded"),
    ):
        synced(store, node)
    for proxy in proxies:
        proxy.always = None
    with sharing(urls_of(proxies), tmp_path) as node:
        synced(store, node)
    check_complete(store, local_chain)
