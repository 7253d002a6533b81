"""The settings select the source of quotes; see also `tests/faces/cli/test_sources.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from swapcli.core.errors import InvalidOption, MarketError, UnknownNetwork
from swapcli.quoting.openers.choose_source import open_source_chooser
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.public import PublicSource
from tests.support.openers import user_setup


def test_the_embedded_market_answers_without_nodes(tmp_path: Path) -> None:
    source = open_source_chooser(user_setup(tmp_path, live="never")).open("base")
    assert isinstance(source, InMemorySource)
    assert source.network.name == "base"


def test_public_nodes_are_read_unless_the_setup_excludes_them(tmp_path: Path) -> None:
    setup = user_setup(tmp_path)
    assert isinstance(open_source_chooser(setup).open("base"), PublicSource)
    assert isinstance(open_source_chooser(setup._replace(is_offline=True)).open("base"), InMemorySource)


def test_an_unknown_network_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnknownNetwork):
        open_source_chooser(user_setup(tmp_path)).open("nowhere")


def test_a_service_and_a_market_file_exclude_each_other(tmp_path: Path) -> None:
    both = user_setup(tmp_path, api_url="https://quotes.example", market=str(tmp_path / "market.json"))
    with pytest.raises(InvalidOption, match="--api-url cannot be combined with --market"):
        open_source_chooser(both).open("base")


def test_errors_of_a_market_file_name_the_file(tmp_path: Path) -> None:
    file = tmp_path / "market.json"
    file.write_text("{}")
    with pytest.raises(MarketError) as caught:
        open_source_chooser(user_setup(tmp_path, market=str(file))).open("base")
    assert caught.value.message.startswith(f"{file}: ")
