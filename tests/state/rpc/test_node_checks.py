"""`health --rpc-url` and `networks --probe`: what a node lacks is found, on a real chain with each refusal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from swapcli.core.model.network import Network
from swapcli.core.networks.catalogue import find_network
from swapcli.state.rpc.node_checks import NodeReport, check_node
from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint, RpcNode
from swapcli.state.rpc.starknet_node import StarknetNode
from tests.chain import proxy as failures
from tests.chain.anvil import CHAIN_ID
from tests.chain.node.server import SHOWN, Failure, Handler, Pauses, Refused, hangs_up, says, serving
from tests.chain.proxy import Proxy, open_proxy, rewrites
from tests.chain.settings import describe_network, write_settings
from tests.chain.small_chain import SmallTestChain
from tests.support.chain import restored
from tests.support.command import run_swapcli


class CheckedChain:
    """A small chain behind a proxy, and settings that name the proxy."""

    def __init__(self, small_chain: SmallTestChain, proxy: Proxy, folder: Path) -> None:
        self.network, self.proxy = small_chain.network, proxy
        self.env = {"SWAPCLI_CONFIG": str(write_settings(folder, self.network, None))}
        self._small_chain = small_chain

    def report(self, failure: Failure | None, age_s: float = 1.0) -> NodeReport:
        self.proxy.always = failure
        node = RpcNode([RpcEndpoint(self.proxy.url, SHOWN)], CHAIN_ID, NodePolicy(timeout_s=5.0, pause=Pauses()))
        with closing(node):
            timestamp = node.read_head().block.timestamp if failure is None else 0
            return check_node(node, self.network, lambda: timestamp + age_s)


@pytest.fixture(scope="module")
def checked_chain(
    shared_small_chain: SmallTestChain, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CheckedChain]:
    with restored(shared_small_chain) as small_chain, open_proxy(small_chain.chain.node.port) as proxy:
        yield CheckedChain(small_chain, proxy, tmp_path_factory.mktemp("checked"))


def missing(report: NodeReport) -> list[str]:
    return [check.name for check in report.missing]


def test_a_real_node_lacks_nothing(checked_chain: CheckedChain) -> None:
    report = checked_chain.report(None)
    assert (missing(report), report.can_quote, report.max_batch_requests) == ([], True, 20)
    assert [check.name for check in report.checks] == [
        "chain",
        "block",
        "batch",
        "calls",
        "earlier block",
        "overrides",
        "events",
    ]
    assert report.block is not None
    assert report.max_log_blocks == min(report.block + 1, 1_000)
    assert report.latency_s is not None
    assert 0.0 < report.latency_s < 5.0


def test_an_old_block_is_missing_a_recent_one(checked_chain: CheckedChain) -> None:
    report = checked_chain.report(None, 3_600.0)
    assert (missing(report), report.block_age_s, report.can_quote) == (["block"], 3_600.0, True)
    assert report.missing[0].problem == "the latest block is 3,600 s old by this machine's clock"


def without_overrides(handler: Handler) -> bool:
    """As a node that passes over the third parameter of a call."""
    return rewrites(
        lambda requests, proxy: proxy.answer([each | {"params": list(each["params"])[:2]} for each in requests])
    )(handler)


def refuses_batches(handler: Handler) -> bool:
    if not isinstance(handler.content, list):
        return False
    handler.send(b'{"error":{"code":-32600,"message":"Restricted JSON RPC method"}}', 403)
    return True


@pytest.mark.parametrize(
    ("failure", "lacks", "problem"),
    [
        (hangs_up, ["chain"], f"{SHOWN} closed the connection before it responded"),
        (failures.moves_to(1), ["chain"], f"{SHOWN} is a node of chain 1, not of chain {CHAIN_ID}"),
        (says(401, b"who?"), ["chain"], f"{SHOWN} responded with status 401: who?"),
        (failures.ignores_block_numbers(), ["earlier block"], f"{SHOWN} responds with block"),
        (failures.without("eth_call"), ["batch", "calls", "overrides"], f"{SHOWN} rejected eth_call"),
        (without_overrides, ["overrides"], "ignores state overrides"),
        (failures.without("eth_getLogs"), ["events"], f"{SHOWN} rejected eth_getLogs"),
        (failures.limits_logs(5), ["events"], "returns events for"),
    ],
)
def test_what_a_node_lacks_is_named(
    checked_chain: CheckedChain, failure: Failure, lacks: list[str], problem: str
) -> None:
    report = checked_chain.report(failure)
    assert [name for name in missing(report) if name != "block"] == lacks
    assert problem in next(check.problem for check in report.missing if check.name != "block")
    assert report.can_quote == (not {"chain", "calls"} & {*lacks})


def test_batches_of_one_are_a_limit_but_nothing_missing(checked_chain: CheckedChain) -> None:
    report = checked_chain.report(refuses_batches)
    assert ([name for name in missing(report) if name != "block"], report.max_batch_requests) == ([], 1)


def test_health_prints_what_a_node_lacks(checked_chain: CheckedChain) -> None:
    checked_chain.proxy.always = None
    name, url, env = checked_chain.network.name, checked_chain.proxy.url, checked_chain.env
    assert run_swapcli("sync", name, "--rpc-url", url, env=env).exit_code == 0
    ran = run_swapcli("health", name, "--rpc-url", url, "--json", env=env)
    assert ran.exit_code == 0, ran.stderr
    (health,) = ran.json
    assert (health["node"]["network"], health["node"]["healthy"]) == (name, True)
    assert {*health["node"]["missing"]} <= {"block"}
    checked_chain.proxy.always = failures.without("eth_getLogs")
    ran = run_swapcli("health", name, "--rpc-url", url, "--format=plain", env=env)
    assert ran.exit_code == 0, ran.stderr
    assert "events (" in ran.stdout
    checked_chain.proxy.always = failures.without("eth_call")
    ran = run_swapcli("health", name, "--rpc-url", url, env=env)
    assert ran.exit_code == 8
    assert "the node lacks: " in ran.stderr


def write_public_nodes(folder: Path, network: Network, *urls: str) -> Path:
    described = describe_network(network) | {"public_rpc_urls": list(urls)}
    return write_settings(folder, network, None, networks={network.name: described})


def test_probe_checks_each_public_node(checked_chain: CheckedChain, tmp_path: Path) -> None:
    checked_chain.proxy.always = None
    network = checked_chain.network
    settings = write_public_nodes(tmp_path, network, checked_chain.proxy.url)
    ran = run_swapcli("networks", network.name, "--probe", "--json", env={"SWAPCLI_CONFIG": str(settings)})
    assert ran.exit_code == 0, ran.stderr
    (node,) = ran.json
    assert (node["healthy"], node["maxBatchRequests"]) == (True, 20)
    settings = write_public_nodes(tmp_path, network, "http://127.0.0.1:1")
    ran = run_swapcli("networks", network.name, "--probe", env={"SWAPCLI_CONFIG": str(settings)})
    assert ran.exit_code == 8
    assert "chain (" in ran.stdout
    assert f"chain {network.chain_id}" in run_swapcli("networks", network.name, env=checked_chain.env).stdout


def test_a_network_without_public_nodes_says_so(checked_chain: CheckedChain) -> None:
    ran = run_swapcli("networks", checked_chain.network.name, "--probe", env=checked_chain.env)
    assert ran.exit_code == 8
    assert "anvil has no public nodes" in ran.stderr
    assert "networks.anvil.public_rpc_urls" in ran.stderr


def test_a_node_of_starknet_gets_the_checks_that_apply() -> None:
    network = find_network("starknet")

    def answering(request: dict[str, Any]) -> object:
        method = request["method"]
        if method == "starknet_getEvents":
            raise Refused(-32_601, "Method not found")
        if method == "starknet_getClassHashAt":
            return "0x17"
        block = {"block_number": 7, "block_hash": "0x7", "parent_hash": "0x6", "timestamp": 1_000}
        return hex(network.chain_id) if method == "starknet_chainId" else block

    with (
        serving(answering) as server,
        closing(
            StarknetNode(
                [RpcEndpoint(f"http://127.0.0.1:{server.server_port}", SHOWN)],
                network.chain_id,
                NodePolicy(timeout_s=5.0, pause=Pauses()),
            )
        ) as node,
    ):
        report = check_node(node, network, lambda: 1_001.0)
    assert [check.name for check in report.checks] == ["chain", "block", "batch", "calls", "events"]
    assert (missing(report), report.can_quote, report.block_age_s) == (["events"], True, 1.0)
