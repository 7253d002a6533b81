"""The compiled forms of the embedded markets: equal to their JSON, and never used for anything else."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import lru_cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.model.market import MarketState
from swapcli.core.model.network import Network
from swapcli.core.networks.catalogue import find_network
from swapcli.families.uniswap.concentrated_state import TickList
from swapcli.quoting import open_market as opening
from swapcli.quoting.open_market import open_market
from swapcli.state.markets import compiled as compiled_form
from swapcli.state.markets.compiled import build_market, load_compiled
from swapcli.state.markets.embedded import compiled_path, embedded_market, embedded_names, read_compiled
from swapcli.state.markets.format import parse_market
from tests.generate.markets import compiled_bytes, main

SMALLEST = "citrea"


@lru_cache
def parsed(name: str) -> MarketState:
    return parse_market(embedded_market(name), networks=find_network).market


def files_of(name: str) -> tuple[bytes, bytes]:
    data = read_compiled(name)
    assert data is not None
    return data, embedded_market(name)


def built(name: str, network: Network) -> MarketState | None:
    compiled = load_compiled(*files_of(name))
    assert compiled is not None
    return build_market(compiled, network)


@pytest.mark.parametrize("name", embedded_names())
def test_the_compiled_form_equals_the_parsed_source(name: str) -> None:
    market = built(name, find_network(name))
    assert market == parsed(name)
    # Equality lets 1.0 pass for 1, and the order of pools decides between equal routes.
    assert market is not None
    assert repr((market.tokens, market.pools)) == repr((parsed(name).tokens, parsed(name).pools))


@pytest.mark.parametrize("name", embedded_names())
def test_the_committed_compiled_form_is_that_of_its_source(name: str) -> None:
    assert files_of(name)[0] == compiled_bytes(embedded_market(name))


def test_compiled_forms_are_smaller_than_their_sources() -> None:
    for name in embedded_names():
        data, document = files_of(name)
        assert len(data) < 0.85 * len(document)


@given(data=st.data())
def test_damaged_files_and_other_sources_are_not_loaded(data: st.DataObject) -> None:
    compiled, document = map(bytearray, files_of(SMALLEST))
    changed = data.draw(st.sampled_from([compiled, document]))
    if data.draw(st.booleans()):
        changed[data.draw(st.integers(0, len(changed) - 1))] ^= data.draw(st.integers(1, 255))
    else:
        del changed[data.draw(st.integers(0, len(changed) - 1)) :]
    assert load_compiled(bytes(compiled), bytes(document)) is None


@pytest.mark.parametrize("values", [None, 5, (), [], (1, 2), (compiled_form._LAYOUT,)])
def test_content_that_is_no_compiled_market_is_not_loaded(values: object) -> None:
    assert load_compiled(compiled_form.with_checksum(values), embedded_market(SMALLEST)) is None


def test_records_with_other_fields_need_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    network = find_network("base")
    assert built("base", network) is not None
    monkeypatch.setattr(TickList, "_fields", (*TickList._fields[:-1], "renamed"))
    assert built("base", network) is None


def test_another_layout_needs_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_form, "_LAYOUT", (("other",), *compiled_form._LAYOUT[1:]))
    assert load_compiled(*files_of(SMALLEST)) is None


@pytest.mark.parametrize(
    "change",
    [
        lambda network: network._replace(protocols=()),
        lambda network: network._replace(native=network.native._replace(decimals=9)),
        lambda network: network._replace(name="other"),
    ],
)
def test_settings_that_the_market_contradicts_need_the_source(change: Callable[[Network], Network]) -> None:
    assert built("base", change(find_network("base"))) is None


def test_the_market_is_on_the_network_of_the_settings() -> None:
    network = find_network("base")._replace(router="0x" + "11" * 20)
    market = built("base", network)
    assert market == parse_market(embedded_market("base"), networks=lambda _: network).market
    assert market is not None
    assert market.network is network


@pytest.mark.parametrize("content", [None, b"", b"\0" * 100])
def test_an_unusable_file_is_answered_from_the_source(monkeypatch: pytest.MonkeyPatch, content: bytes | None) -> None:
    monkeypatch.setattr(opening, "read_compiled", lambda _: content)
    assert open_market(SMALLEST, find_network).market == parsed(SMALLEST)


def test_an_embedded_market_is_opened_without_its_parser() -> None:
    script = (
        "import sys\n"
        "from swapcli.quoting.open_market import open_market\n"
        "from swapcli.core.networks.catalogue import find_network\n"
        "open_market('base', find_network)\n"
        "print('swapcli.state.markets.format' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"


def test_the_generator_reports_a_stale_compiled_form(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--check", SMALLEST]) == 0
    monkeypatch.setattr("tests.generate.markets.read_compiled", lambda _: b"")
    assert main(["--check", SMALLEST]) == 1
    assert SMALLEST in capsys.readouterr().err
    assert compiled_path(SMALLEST).endswith(f"{SMALLEST}.market")
