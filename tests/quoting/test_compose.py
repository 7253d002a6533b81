"""The settings select the source of quotes; see also `tests/faces/cli/test_sources.py`."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from swapcli.core.errors import InvalidOption, MarketError, UnknownNetwork
from swapcli.core.model.network import PublicNode
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.compose import QuoteSources, choose_service_pools
from swapcli.quoting.config import Settings, load_settings
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.markets.embedded import embedded_names
from swapcli.state.rpc.json_rpc_client import RpcRequest
from swapcli.state.rpc.rpc_node import RpcNode
from tests.chain.node.server import serving


def settings_with(folder: Path, **flags: object) -> Settings:
    return load_settings(flags=flags, environ={}, config_path=None, home=folder)


def sources(folder: Path, warnings: list[str] | None = None, **flags: object) -> QuoteSources:
    return QuoteSources(settings_with(folder, **flags), folder, warn=(warnings if warnings is not None else []).append)


def test_the_embedded_market_answers_without_nodes(tmp_path: Path) -> None:
    source = sources(tmp_path, live="never").open("base")
    assert isinstance(source, InMemorySource)
    assert source.network.name == "base"


def test_an_unknown_network_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnknownNetwork):
        sources(tmp_path).open("nowhere")
    assert sources(tmp_path).chain_id("nowhere") is None
    assert sources(tmp_path).chain_id("base") == 8453


def test_a_service_and_a_market_file_exclude_each_other(tmp_path: Path) -> None:
    both = sources(tmp_path, api_url="https://quotes.example", market=str(tmp_path / "market.json"))
    with pytest.raises(InvalidOption, match="--api-url and --market"):
        both.open("base")


def test_errors_of_a_market_file_name_the_file(tmp_path: Path) -> None:
    file = tmp_path / "market.json"
    file.write_text("{}")
    with pytest.raises(MarketError) as caught:
        sources(tmp_path, market=str(file)).open("base")
    assert caught.value.message.startswith(f"{file}: ")


def test_a_created_store_is_found_once_it_has_pools(tmp_path: Path) -> None:
    composed = sources(tmp_path)
    composed.create_store(composed.network("base")).close()
    assert composed.store_files() == [tmp_path / "base.sqlite"]
    assert composed.stored("base") is None
    assert isinstance(composed.open_embedded("base"), InMemorySource)


def test_public_nodes_in_long_use_keep_to_their_limits(tmp_path: Path) -> None:
    base = find_network("base")

    def answer(request: dict[str, Any]) -> object:
        return hex(base.chain_id) if request["method"] == "eth_chainId" else "0x7"

    with serving(answer) as server:
        public = PublicNode(f"http://127.0.0.1:{server.server_port}", batch_requests=3)
        lasting = sources(tmp_path).any_lasting_node(base._replace(public_nodes=(public,)))
        with closing(lasting.node) as node:
            assert isinstance(node, RpcNode)
            balance = RpcRequest("eth_getBalance", (ZERO_ADDRESS, "latest"))
            assert node.send_optional([balance] * 10) == ["0x7"] * 10
    assert max(server.exchanges) == 3


def test_a_service_without_nodes_serves_the_embedded_markets(tmp_path: Path) -> None:
    pools = choose_service_pools(sources(tmp_path), (), skip_bad_pools=False, warn_of_node=lambda *_: None)
    assert set(pools.openers) == set(embedded_names())
    assert (pools.followed, pools.check_nodes) == ([], {})
    assert pools.openers["base"]().network.name == "base"
