"""Nodes of commands that last are opened as the settings say."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from swapcli.core.errors import InvalidOption
from swapcli.core.model.network import PublicNode
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.config import load_settings
from swapcli.quoting.openers.long_running_nodes import any_lasting_node, service_node
from swapcli.quoting.openers.nodes import NodeOpener
from swapcli.state.rpc.json_rpc_client import RpcRequest
from swapcli.state.rpc.rpc_node import RpcNode
from tests.chain.node.server import serving
from tests.support.openers import user_setup

BASE = find_network("base")


def test_public_nodes_in_long_use_keep_to_their_limits(tmp_path: Path) -> None:
    def answer(request: dict[str, Any]) -> object:
        return hex(BASE.chain_id) if request["method"] == "eth_chainId" else "0x7"

    with serving(answer) as server:
        public = PublicNode(f"http://127.0.0.1:{server.server_port}", batch_requests=3)
        lasting = any_lasting_node(NodeOpener(user_setup(tmp_path)), BASE._replace(public_nodes=(public,)))
        with closing(lasting.node) as node:
            assert isinstance(node, RpcNode)
            balance = RpcRequest("eth_getBalance", (ZERO_ADDRESS, "latest"))
            assert node.send_optional([balance] * 10) == ["0x7"] * 10
    assert max(server.exchanges) == 3


@pytest.mark.parametrize(
    ("live", "own", "expected"),
    [
        ("auto", False, BASE.public_nodes[0].url), ("auto", True, "http://127.0.0.1:1"),
        ("require", False, BASE.public_nodes[0].url), ("require", True, "http://127.0.0.1:1"),
        ("never", False, None), ("never", True, None),
    ],
)  # fmt: skip
def test_a_service_follows_the_named_node_else_public_ones(
    tmp_path: Path, live: str, own: bool, expected: str | None
) -> None:
    named = {"networks.base.rpc_url": "http://127.0.0.1:1"} if own else {}
    settings = load_settings(flags={"live": live, **named}, environ={}, config_path=None, home=tmp_path)
    lasting = service_node(NodeOpener(user_setup(tmp_path)._replace(settings=settings)), BASE)
    assert (lasting and lasting.node.redacted_url) == expected
    assert lasting is None or lasting.is_public is not own


def test_a_service_needs_a_known_node_only_if_required(tmp_path: Path) -> None:
    unknown = BASE._replace(public_nodes=())
    assert service_node(NodeOpener(user_setup(tmp_path)), unknown) is None
    with pytest.raises(InvalidOption, match="no node is known for base"):
        service_node(NodeOpener(user_setup(tmp_path, live="require")), unknown)


def test_a_service_reads_public_nodes_every_few_seconds(tmp_path: Path) -> None:
    lasting = service_node(NodeOpener(user_setup(tmp_path)), BASE._replace(block_time_s=0.2))
    assert lasting is not None
    with closing(lasting.node):
        started_s = time.monotonic()
        waiting = Thread(target=lasting.heads.wait, args=(0.2, 7))
        waiting.start()
        waiting.join(0.6)
        assert waiting.is_alive(), time.monotonic() - started_s
        lasting.heads.stop()
        waiting.join(5)
        assert not waiting.is_alive()
