"""What a delegating node does not override is answered by its node."""

from __future__ import annotations

import inspect
from typing import Any, cast

import pytest

from swapcli.state.read_cache.cached_node import CachedNode
from swapcli.state.rpc.block_view import BlockView
from swapcli.state.rpc.delegating_node import DelegatingNode
from swapcli.state.rpc.node import HashPinnedNode, Node
from swapcli.state.rpc.rpc_node import RpcEndpoint, RpcNode
from swapcli.state.rpc.starknet_node import StarknetNode

MEMBERS = sorted(name for name in vars(Node) if not name.startswith("_"))
METHODS = [name for name in MEMBERS if inspect.isfunction(getattr(Node, name))]


class Recorder:
    """Answers with the name and the arguments of what it is asked."""

    redacted_url = "the URL"
    limits = "the limits"

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments, **keywords: (name, arguments, keywords)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_reaches_the_node_as_it_was_called(name: str) -> None:
    node = DelegatingNode(cast(Node, Recorder()))
    parameters = list(inspect.signature(getattr(Node, name)).parameters.values())[1:]
    positional = tuple(each.name for each in parameters if each.kind is not inspect.Parameter.KEYWORD_ONLY)
    keywords = {each.name: each.name for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY}
    answer = getattr(node, name)(*positional, **keywords)
    assert answer in (None, (name, positional, keywords))
    assert (answer is None) == (name == "report_helpers")


def test_what_it_is_comes_from_the_node_too() -> None:
    node = DelegatingNode(cast(Node, Recorder()))
    assert set(MEMBERS) - set(METHODS) == {"redacted_url", "limits"}
    assert (node.redacted_url, str(node.limits)) == ("the URL", "the limits")


def test_what_is_read_by_the_hash_of_a_block_stays_so() -> None:
    starknet, evm = (node([RpcEndpoint("http://127.0.0.1:1", "")], 1) for node in (StarknetNode, RpcNode))
    for node in (starknet, evm):
        assert isinstance(DelegatingNode(node), HashPinnedNode) is (node is starknet)
        assert isinstance(DelegatingNode(DelegatingNode(node)), HashPinnedNode) is (node is starknet)
        node.close()


def test_views_and_caches_override_only_what_they_change() -> None:
    own = {each: {*vars(each)} & {*MEMBERS} for each in (BlockView, CachedNode)}
    assert own == {BlockView: {"read_head"}, CachedNode: {"read_block", "read_logs"}}
