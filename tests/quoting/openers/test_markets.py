"""Markets and stores are opened as the settings say."""

from __future__ import annotations

from pathlib import Path

import pytest

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
    with pytest.raises(ConfigError, match=f"there is no folder {folder}"):
        markets.find_store("base")


def test_a_market_without_pools_knows_the_tokens(tmp_path: Path) -> None:
    market = market_opener(user_setup(tmp_path)).without_pools("base")
    assert market.pools == {}
    assert set(market.tokens) == {token.address for token in market.network.tokens}


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
