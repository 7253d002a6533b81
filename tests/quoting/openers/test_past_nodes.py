"""Nodes of past blocks, with the file of what they said."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from swapcli.core.errors import InvalidOption
from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.config import load_settings, node_url
from swapcli.quoting.openers.nodes import NodeOpener
from swapcli.quoting.openers.past_nodes import CACHE_FILE, open_archive_node, open_past_node
from swapcli.quoting.openers.user_setup import UserSetup
from swapcli.state.read_cache.cached_node import CachedArchiveNode, CachedNode
from swapcli.state.rpc.node import StateOverrideNode
from swapcli.state.rpc.rpc_node import RpcNode


@pytest.fixture
def nodes(tmp_path: Path) -> NodeOpener:
    settings = load_settings(flags={}, environ={}, config_path=None, home=tmp_path)
    url = node_url("--rpc-url", "http://127.0.0.1:1")
    return NodeOpener(UserSetup(settings, tmp_path / "data", lambda _: None, rpc_url=url))


def test_the_cache_is_in_the_data_folder_and_can_be_left_out(nodes: NodeOpener, tmp_path: Path) -> None:
    network = find_network("base")
    for open_node in (open_past_node, open_archive_node):
        with open_node(nodes, network, uses_cache=False) as node:
            assert isinstance(node, RpcNode)
        assert not (tmp_path / "data" / CACHE_FILE).exists()
    for open_node in (open_past_node, open_archive_node):
        with open_node(nodes, network, uses_cache=True) as node:
            assert isinstance(node, CachedArchiveNode)
    assert (tmp_path / "data" / CACHE_FILE).is_file()


def test_only_an_evm_network_has_receipts(nodes: NodeOpener) -> None:
    starknet = find_network("starknet")
    with open_past_node(nodes, starknet, uses_cache=True) as node:
        assert isinstance(node, CachedNode)
        assert not isinstance(node, StateOverrideNode)
    with (
        pytest.raises(InvalidOption, match="starknet is not an EVM network") as caught,
        open_archive_node(nodes, starknet, uses_cache=True),
    ):
        pass
    assert "backtest" in (caught.value.hint or "")


def test_a_damaged_cache_is_skipped_with_a_note(nodes: NodeOpener, tmp_path: Path) -> None:
    file = tmp_path / "data" / CACHE_FILE
    os.makedirs(file.parent)
    file.write_bytes(b"damaged" * 1_000)
    notes: list[str] = []
    nodes = NodeOpener(nodes.setup._replace(warn=notes.append))
    for open_node in (open_past_node, open_archive_node):
        with open_node(nodes, find_network("base"), uses_cache=True) as node:
            assert isinstance(node, RpcNode)
    assert ["cannot be used" in note and "--no-cache" in note for note in notes] == [True, True]
