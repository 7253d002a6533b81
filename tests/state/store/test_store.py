"""A market is read from a store as it was written, pool by pool."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings

from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.networks.catalogue import find_network
from swapcli.state.markets.embedded import embedded_market, embedded_names
from swapcli.state.markets.format import parse_market, render_market
from swapcli.state.store import create_store, open_store
from swapcli.state.store.schema import MIGRATIONS
from tests.examples import examples
from tests.state.store.build import TOKENS, create, imported, pool, reopen, rows
from tests.strategies import markets, raise_unknown_network


def write_and_read(market: MarketState, folder: Path) -> MarketState:
    path = str(folder / "store")
    with create_store(path, market.network, raise_unknown_network) as store:
        store.write_market(market)
    with open_store(path, raise_unknown_network, market.network.name) as store:
        return store.read_market()


@settings(max_examples=examples(10, full=40))
@given(markets(max_pools=6))
def test_any_market_round_trips_through_a_store(market: MarketState) -> None:
    with TemporaryDirectory() as folder:
        assert write_and_read(market, Path(folder)) == market


@settings(max_examples=examples(6, full=20))
@given(markets(), markets())
def test_a_written_market_replaces_the_one_before(first: MarketState, second: MarketState) -> None:
    second = second._replace(network=first.network, pools={}, placeholder_pools=frozenset())
    with TemporaryDirectory() as folder, create_store(f"{folder}/store", first.network, raise_unknown_network) as store:
        store.write_market(first)
        store.write_market(second)
        assert store.read_market() == second


@pytest.mark.parametrize("name", embedded_names())
def test_embedded_markets_round_trip_and_render_alike(name: str, tmp_path: Path) -> None:
    market = parse_market(embedded_market(name), networks=find_network).market
    path = str(tmp_path / "store")
    with create_store(path, market.network, find_network) as store:
        store.write_market(market)
    with open_store(path, find_network, name) as store:
        read = store.read_market()
        assert read == market
        assert render_market(read) == render_market(market)


@settings(max_examples=examples(6, full=20))
@given(markets(max_pools=6))
def test_selected_pools_are_read_with_their_tokens(market: MarketState) -> None:
    selected = [*market.pools][::2]
    with (
        TemporaryDirectory() as folder,
        create_store(f"{folder}/store", market.network, raise_unknown_network) as store,
    ):
        store.write_market(market)
        part = store.read_pools([*selected, "0xunknown"])
    assert part.pools == {key: market.pools[key] for key in selected}
    stored = {address for key in selected for address in market.pools[key].tokens}
    assert part.tokens == {address: market.tokens[address] for address in stored}
    assert part.placeholder_pools == market.placeholder_pools & set(selected)


def test_tokens_are_found_by_address_and_symbol_in_any_case(tmp_path: Path) -> None:
    twin = TOKENS[2]._replace(symbol="t1")
    with create(tmp_path / "store") as store:
        with store.write_block(1) as writer:
            writer.put_tokens([TOKENS[0], TOKENS[1], twin])
        assert store.find_tokens("T1") == {TOKENS[1].address: TOKENS[1], twin.address: twin}
        assert store.find_tokens("0x" + TOKENS[0].address[2:].upper()) == {TOKENS[0].address: TOKENS[0]}
        assert store.find_tokens("nothing") == {}
        assert store.read_tokens() == {token.address: token for token in (TOKENS[0], TOKENS[1], twin)}


def test_a_store_takes_a_known_network_from_the_catalogue(tmp_path: Path) -> None:
    base = find_network("base")
    path = str(tmp_path / "store")
    create_store(path, base, find_network).close()
    with open_store(path, lambda name: find_network(name)._replace(router="0x" + "1" * 40)) as store:
        assert store.network == base._replace(router="0x" + "1" * 40)


def test_the_summary_counts_what_was_written(tmp_path: Path) -> None:
    with create(tmp_path / "store") as store:
        with store.write_block(7, "0xabc", 1_700_000_000) as writer:
            writer.put_tokens(TOKENS)
            writer.put_pools([pool(1), pool(2), pool(3, ends=(1, 2))])
            writer.update_description(source="a node", gas_price_wei=5)
        summary = store.read_summary()
    assert (summary.network, summary.chain_id, summary.provenance) == ("test", 1, Provenance.SYNCED)
    assert (summary.source, summary.gas_price_wei, summary.timestamp) == ("a node", 5, 1_700_000_000)
    assert summary.block == (7, "0xabc", 1_700_000_000)
    assert (summary.tokens, summary.pools, summary.undoable_blocks, summary.layout) == (4, 3, 0, len(MIGRATIONS))
    assert [(each.protocol, each.family, each.pools) for each in summary.protocols] == [("v2", "constant_product", 3)]
    # Each pool has a million dollars on either side; half of that moves the rate by one.
    assert summary.protocols[0].depth_usd == pytest.approx(1.5e6, rel=0.05)
    assert summary.size_bytes >= (tmp_path / "store").stat().st_size > 0


def test_an_import_has_its_block_and_cannot_be_rewound(tmp_path: Path) -> None:
    with create(tmp_path / "store") as store:
        with store.write_block(1) as writer:
            writer.put_tokens(TOKENS)
            writer.put_metadata("progress", 5)
        replacement = store.read_market()._replace(block=9, timestamp=99)
        store.write_market(replacement)
        assert [block.number for block in store.read_blocks()] == [9]
        assert store.read_metadata("progress") is None
    with reopen(tmp_path / "store") as store:
        assert store.read_market() == replacement


def test_pools_are_stored_with_the_block_of_their_state(tmp_path: Path) -> None:
    with create(tmp_path / "store") as store:
        with store.write_block(1) as writer:
            writer.put_tokens(TOKENS)
            writer.put_pools([pool(1), pool(2)])
        with store.write_block(4) as writer:
            writer.put_pools([pool(2, reserve=7)])
    assert rows(tmp_path / "store", "SELECT block FROM pools ORDER BY id") == [(1,), (4,)]
    with imported(tmp_path / "other", reopen_market(tmp_path)._replace(block=11)) as store:
        assert store.read_summary().pools == 2
    assert rows(tmp_path / "other", "SELECT DISTINCT block FROM pools") == [(11,)]


def reopen_market(folder: Path) -> MarketState:
    with reopen(folder / "store") as store:
        return store.read_market()


def test_an_empty_store_of_an_unknown_network_can_be_opened(tmp_path: Path) -> None:
    """The store describes the network itself, and needs the wrapped native token."""
    path = str(tmp_path / "store")
    known = find_network("base")
    create_store(path, known, raise_unknown_network).close()
    with open_store(path, raise_unknown_network) as store:
        stored = store.network
        assert (stored.name, stored.chain_id, stored.wrapped_native) == (
            known.name,
            known.chain_id,
            known.wrapped_native,
        )
        assert list(store.read_tokens().values()) == [known.wrapped_native]
