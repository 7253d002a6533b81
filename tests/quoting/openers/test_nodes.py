"""Nodes are opened as the settings say; see also `test_live_choice`."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from swapcli.core.errors import InvalidOption, UpstreamError
from swapcli.core.model.network import PublicNode
from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.config import Secret, load_settings
from swapcli.quoting.openers.nodes import NodeOpener
from tests.support.openers import user_setup

BASE = find_network("base")


def test_a_node_that_is_needed_and_excluded_is_an_error(tmp_path: Path) -> None:
    nodes = NodeOpener(user_setup(tmp_path, live="never"))
    assert nodes.node(BASE) is None
    assert nodes.second_node(BASE) is None
    with pytest.raises(InvalidOption, match="the setting `live` is `never`"):
        nodes.require_node(BASE)
    with pytest.raises(InvalidOption, match="not an EVM network"):
        nodes.require_node(find_network("starknet"))


def test_the_second_node_is_another_one_of_the_settings(tmp_path: Path) -> None:
    first, second = "http://127.0.0.1:1", "http://127.0.0.1:2"
    config = tmp_path / "config.yaml"
    config.write_text(f"networks: {{base: {{rpc_url: '{first}', rpc_urls: ['{second}']}}}}")
    setup = user_setup(tmp_path)._replace(
        settings=load_settings(flags={}, environ={}, config_path=config, home=tmp_path)
    )
    for rpc_url, expected in ((None, second), (Secret(first, first), second), (Secret(second, second), first)):
        node = NodeOpener(setup._replace(rpc_url=rpc_url)).second_node(BASE)
        assert node is not None
        with closing(node):
            assert node.redacted_url == expected


def test_the_public_node_of_a_quote_stays_one_when_others_are_opened(tmp_path: Path) -> None:
    """Otherwise other public nodes would no longer check its payloads."""
    public = (PublicNode("http://127.0.0.1:1"), PublicNode("http://127.0.0.1:2"))
    network, nodes = BASE._replace(public_nodes=public), NodeOpener(user_setup(tmp_path))
    with closing(nodes.require_quoted_node(network)) as quoted:
        nodes.witnesses(quoted, network)
        with closing(nodes.require_quoted_node(network)):
            assert not nodes.is_named(quoted)


@pytest.mark.parametrize(("check", "expected"), [("never", False), ("auto", False), ("always", True)])
def test_a_swap_is_checked_as_the_settings_say(tmp_path: Path, check: str, expected: bool) -> None:
    settings = load_settings(flags={}, environ={"SWAPCLI_CHECK": check}, config_path=None, home=tmp_path)
    setup = user_setup(tmp_path)._replace(settings=settings)
    assert NodeOpener(setup).checks_swaps(BASE) is expected
    assert not NodeOpener(setup).checks_swaps(find_network("starknet"))
    with NodeOpener(setup._replace(is_offline=True)).checking_node(BASE) as node:
        assert node is None


def test_an_option_to_check_without_nodes_is_refused(tmp_path: Path) -> None:
    nodes = NodeOpener(user_setup(tmp_path, check="always")._replace(is_offline=True))
    with pytest.raises(InvalidOption, match="--offline is set"):
        nodes.checks_swaps(BASE)


@pytest.mark.parametrize("value", ["mainnet", "ws://127.0.0.1:1", "/run/geth.ipc", "~/geth.ipc", "http://127.0.0.1:1"])
@pytest.mark.parametrize("has_public", [True, False])
def test_an_unusable_variable_is_skipped_with_a_note(tmp_path: Path, value: str, has_public: bool) -> None:
    notes: list[str] = []
    setup = user_setup(tmp_path, notes)._replace(environ={"ETH_RPC_URL": value})
    nodes, network = NodeOpener(setup), BASE if has_public else BASE._replace(public_nodes=())
    choices = list(setup.node_rules.quoted_nodes(network))
    if has_public:
        nodes.open_first(choices, network).close()
    else:
        with pytest.raises(UpstreamError, match="no node is known for base"):
            nodes.open_first(choices, network)
    assert not nodes.reads_named_node
    assert len(notes) == 1
    assert notes[0].startswith("ETH_RPC_URL is skipped: ")
