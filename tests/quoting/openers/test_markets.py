"""Markets and stores are opened as the settings say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from swapcli import import_market
from swapcli.core.errors import ConfigError, InvalidOption
from swapcli.quoting.openers.pool_sources import PoolSourceOpener
from swapcli.quoting.sources.in_memory import InMemorySource
from tests.support.openers import market_opener, user_setup
from tests.support.testnet import write_market_file


def test_a_created_store_is_found_once_it_has_pools(tmp_path: Path) -> None:
    markets = market_opener(user_setup(tmp_path))
    markets.create_store(markets.networks.find("base")).close()
    assert markets.store_files() == [tmp_path / "base.sqlite"]
    assert markets.find_store("base") is None
    assert isinstance(PoolSourceOpener(markets).open_known("base"), InMemorySource)


def test_a_mistyped_folder_of_stores_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "stroes"
    markets = market_opener(user_setup(tmp_path, store_dir=str(folder)))
    with pytest.raises(ConfigError, match=f"no such folder: {folder}"):
        markets.find_store("base")


def test_a_market_without_pools_knows_the_tokens(tmp_path: Path) -> None:
    market = market_opener(user_setup(tmp_path)).without_pools("base")
    assert market.pools == {}
    assert set(market.tokens) == {token.address for token in market.network.tokens}


def test_the_router_of_the_settings_also_holds_for_the_network_of_a_file(tmp_path: Path) -> None:
    file = Path(write_market_file(tmp_path))
    document = json.loads(file.read_text())
    assert "chain_id" in document["network"], "it describes the network itself"
    file.write_text(json.dumps({**document, "network": {**document["network"], "router": "0x" + "22" * 20}}))
    for dialect in ("auto", "own", "settler"):
        market = market_opener(user_setup(tmp_path, market=str(file), router_dialect=dialect)).file_market()
        assert market is not None
        assert market.network.router_dialect == ("fibrous" if dialect == "auto" else dialect)
        assert (market.network.router is None) == (dialect != "auto"), "no router is known but the file's"
        import_market(str(file), replace=True, settings={"store_dir": str(tmp_path)})
        store = market_opener(user_setup(tmp_path, router_dialect=dialect)).find_store("testnet")
        assert store is not None
        assert store.network == market.network
        store.close()


def test_a_large_market_file_is_better_imported(tmp_path: Path) -> None:
    file = Path(write_market_file(tmp_path))
    text = file.read_text()
    for padding, expected in ((0, []), (5 << 20, ["swapcli market import"])):
        file.write_text(text + " " * padding)
        notes: list[str] = []
        markets = market_opener(user_setup(tmp_path, notes, market=str(file)))
        assert markets.file_market() is not None
        assert len(notes) == len(expected)
        assert all(part in note for part, note in zip(expected, notes, strict=True))


def test_no_market_file_is_no_market(tmp_path: Path) -> None:
    markets = market_opener(user_setup(tmp_path))
    assert markets.file_market() is None
    with pytest.raises(InvalidOption, match="no market file"):
        PoolSourceOpener(markets).open_file()
