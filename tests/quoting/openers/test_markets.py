"""Markets and stores are opened as the settings say."""

from __future__ import annotations

from pathlib import Path

import pytest

from swapcli.core.errors import ConfigError, InvalidOption
from swapcli.quoting.openers.pool_sources import PoolSourceOpener
from swapcli.quoting.sources.in_memory import InMemorySource
from tests.support.openers import market_opener, user_setup


def test_a_created_store_is_found_once_it_has_pools(tmp_path: Path) -> None:
    markets = market_opener(user_setup(tmp_path))
    markets.create_store(markets.networks.find("base")).close()
    assert markets.store_files() == [tmp_path / "base.sqlite"]
    assert markets.find_store("base") is None
    assert isinstance(PoolSourceOpener(markets).open_known("base"), InMemorySource)


def test_a_mistyped_folder_of_stores_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "stroes"
    markets = market_opener(user_setup(tmp_path, store_dir=str(folder)))
    with pytest.raises(ConfigError, match=f"there is no folder {folder}"):
        markets.find_store("base")


def test_a_market_without_pools_knows_the_tokens(tmp_path: Path) -> None:
    market = market_opener(user_setup(tmp_path)).without_pools("base")
    assert market.pools == {}
    assert set(market.tokens) == {token.address for token in market.network.tokens}


def test_no_market_file_is_no_market(tmp_path: Path) -> None:
    markets = market_opener(user_setup(tmp_path))
    assert markets.file_market() is None
    with pytest.raises(InvalidOption, match="no market file"):
        PoolSourceOpener(markets).open_file()
