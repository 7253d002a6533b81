"""A lookup by tokens finds the same pools as lists and events do; invalid responses are skipped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from zlib import crc32

import pytest
from eth_abi.abi import encode
from hypothesis import given, settings
from hypothesis import strategies as st

from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.network import ProtocolInfo
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.networks.catalogue import find_network
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.contract_kinds import KINDS
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import SkippedItem
from swapcli.families.reading.pool_readers import load_pools
from swapcli.families.reading.pool_ref import LastTicks, PoolRef, with_decimals
from swapcli.families.row import FactoryConstants, TickConstants
from swapcli.families.uniswap.rows import V4Constants
from swapcli.state.discovery.pair_lookup import USUAL_SPACINGS, find_pair_pools
from swapcli.state.discovery.pool_discovery import (
    FactoryPools,
    find_factories,
    read_listed_pools,
    read_pool_lists,
)
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.node import BlockId
from swapcli.testing.evm import Chain, Contract, RevertedError
from tests.chain.node.evm_node import BLOCK, EvmNode, deploy_multicall, packed_reader, sources
from tests.chain.node.factories import (
    ALGEBRA,
    SLIPSTREAM,
    STABLE,
    V2,
    V3,
    V4,
    VOLATILE,
    FactoryFixture,
    algebra,
    pancake_v3,
    slipstream,
    solidly,
    uniswap_v2,
    uniswap_v3,
    uniswap_v4,
)
from tests.examples import examples
from tests.state.discovery.test_pool_discovery import Scene

EVERY_KIND = (
    Factory("0x" + "01" * 20, ContractKind.UNISWAP_V2, (V2,), fee_ppm=3_000),
    Factory("0x" + "02" * 20, ContractKind.SOLIDLY, (VOLATILE, STABLE)),
    Factory("0x" + "03" * 20, ContractKind.UNISWAP_V3, (V3,)),
    Factory("0x" + "04" * 20, ContractKind.UNISWAP_V3, (SLIPSTREAM,)),
    Factory("0x" + "05" * 20, ContractKind.ALGEBRA, (ALGEBRA,)),
    Factory("0x" + "06" * 20, ContractKind.UNISWAP_V4, (V4,)),
)
A, B, C = ("0x" + digits * 20 for digits in ("a1", "b2", "c3"))


class RecordingNode(EvmNode):
    """Records the calls of each round. `respond`, if set, answers instead of the contracts."""

    def __init__(self, chain: Chain, respond: Callable[[ContractCall], ReturnData] | None = None) -> None:
        super().__init__(chain)
        self._respond = respond
        self.rounds: list[Sequence[ContractCall]] = []

    def call_many(self, calls: Sequence[ContractCall], at: BlockId) -> list[ReturnData]:
        self.rounds.append(calls)
        return super().call_many(calls, at)

    def _answer(self, call: ContractCall) -> ReturnData:
        return self._respond(call) if self._respond else super()._answer(call)


@pytest.fixture
def scene() -> Scene:
    return Scene()


def found(
    scene: Scene, factory: FactoryFixture | Factory, tokens: Sequence[str], wrapped: str | None = None
) -> list[object]:
    home = factory.home if isinstance(factory, FactoryFixture) else factory
    return list(find_pair_pools(scene.view, [home], tokens, wrapped))


def enumerated(scene: Scene, home: Factory, wrapped: str) -> list[PoolRef | SkippedItem]:
    """Return the pools of a factory from its list or its events."""
    if home.is_enumerable:
        (listing,) = read_pool_lists(scene.view, [home])
        assert isinstance(listing, FactoryPools)
        return list(read_listed_pools(scene.view, listing, 0, listing.length))
    return scene.created(home, wrapped=wrapped)


def fill(rng: Random, scene: Scene, factory: FactoryFixture, count: int) -> None:
    """Create up to `count` random pools; a factory refuses duplicates."""
    for _ in range(count):
        a, b = rng.sample(scene.tokens, 2)
        try:
            scene.record_events(factory.make(a, b, rng.choice(factory.keys)))
        except RevertedError:
            continue


@pytest.mark.parametrize("seed", range(3))
def test_lookup_finds_the_same_pools_as_lists_and_events(scene: Scene, seed: int) -> None:
    rng = Random(f"lookup {seed}")
    wrapped = rng.choice(scene.tokens)
    makers = (uniswap_v2, solidly, uniswap_v3, pancake_v3, slipstream, algebra)
    made = [*(maker(scene.chain) for maker in makers), uniswap_v4(scene.chain, wrapped)]
    for factory in made:
        fill(rng, scene, factory, 12)
    every = [place for factory in made for place in enumerated(scene, factory.home, wrapped)]
    assert len(every) >= 30
    for size in (2, 3, len(scene.tokens)):
        tokens = rng.sample(scene.tokens, size)
        expected = {place for place in every if isinstance(place, PoolRef) and set(place.tokens) <= {*tokens}}
        places = list(find_pair_pools(scene.view, [factory.home for factory in made], tokens, wrapped))
        assert {each.key for each in places if isinstance(each, SkippedItem)} == set()
        assert len(places) == len(expected)
        assert set(places) == {
            each for each in expected if not each.constants_as(V4Constants).is_native or wrapped in tokens
        }


def test_what_is_found_can_be_read(scene: Scene) -> None:
    a, _, _, wrapped = scene.tokens
    made = [maker(scene.chain) for maker in (uniswap_v2, solidly, uniswap_v3, pancake_v3, slipstream, algebra)]
    made.append(uniswap_v4(scene.chain, wrapped))
    for factory in made:
        for key in factory.keys:
            factory.make(a, wrapped, key)
    homes_of = [factory.home for factory in made]
    places = [
        with_decimals(each, scene.known())
        for each in find_pair_pools(scene.view, homes_of, scene.tokens, wrapped)
        if isinstance(each, PoolRef)
    ]
    whole = [place for place in places if isinstance(place, PoolRef)]
    assert len(whole) == sum(len(factory.keys) for factory in made)
    for pool in load_pools(scene.view, whole):
        # Only those of Uniswap V4 have been given a price.
        assert isinstance(pool, Pool) or pool.reason.startswith("sqrt_price_x96: 0 is outside")
    assert {place.last_read for place in whole if place.kind == ContractKind.UNISWAP_V4} == {LastTicks(7)}
    assert {frozenset(place.tokens) for place in whole} == {frozenset((a, wrapped))}


def test_order_and_duplicates_of_tokens_do_not_matter(scene: Scene) -> None:
    a, b, c, _ = scene.tokens
    factory = uniswap_v2(scene.chain)
    for pair in ((a, b), (b, c)):
        factory.make(*pair, 0)
    once = found(scene, factory, [a, b, c])
    assert [place.tokens for place in once if isinstance(place, PoolRef)] == [(a, b), (b, c)]
    assert found(scene, factory, [c, ZERO_ADDRESS, a, b, a, c]) == once
    node = EvmNode(scene.chain)
    for tokens in ((), (a,), (a, a), (a, ZERO_ADDRESS)):
        assert list(find_pair_pools(packed_reader(node), [factory.home], tokens, a)) == []
    assert node.batch_sizes == []


def test_wrapped_native_also_finds_pools_of_native_currency(scene: Scene) -> None:
    a, b, wrapped, _ = scene.tokens
    factory = uniswap_v4(scene.chain, wrapped)
    for key in (500, -500):
        factory.make(a, wrapped, key)
    factory.make(a, b, 500)

    def natives(tokens: Sequence[str], native: str | None) -> list[bool]:
        refs = (ref for ref in found(scene, factory, tokens, native) if isinstance(ref, PoolRef))
        return [ref.constants_as(V4Constants).is_native for ref in refs]

    assert natives((a, b, wrapped), wrapped) == [False, False, True]
    assert natives((a, b, wrapped), None) == [False, False]
    assert natives((a, b), wrapped) == [False]
    assert natives((wrapped, b), wrapped) == []


@pytest.mark.slow
def test_many_pairs_take_few_rounds_of_bounded_size(scene: Scene) -> None:
    """A round has at most 2,000 calls, for any number of tokens."""
    tokens = [f"0x{number:040x}" for number in range(1, 61)]
    made = [uniswap_v2(scene.chain), uniswap_v3(scene.chain), uniswap_v4(scene.chain, tokens[0])]
    node = EvmNode(scene.chain)
    lookup = find_pair_pools(MulticallReader(node, BLOCK, None), [factory.home for factory in made], tokens, tokens[0])
    assert list(lookup) == []
    pairs, natives = 60 * 59 // 2, 59
    questions = (1 + len(made[1].keys) + 1) * pairs + natives
    assert sum(node.batch_sizes[1:]) == questions
    assert len(node.batch_sizes) == 1 + -(-questions // 2_000)
    assert max(node.batch_sizes) <= 2_000


def test_a_few_tokens_take_three_rounds(scene: Scene) -> None:
    made = [maker(scene.chain) for maker in (uniswap_v2, solidly, uniswap_v3, pancake_v3, slipstream, algebra)]
    for factory in made:
        factory.make(scene.tokens[0], scene.tokens[1], factory.keys[0])
    node = EvmNode(scene.chain)
    view = MulticallReader(node, BLOCK, deploy_multicall(scene.chain))
    assert len(list(find_pair_pools(view, [factory.home for factory in made], scene.tokens, None))) == len(made)
    assert len(node.batch_sizes) == 3, "functions with fees, addresses, and pools"


@pytest.fixture
def odd(scene: Scene) -> Contract:
    """Deploy a factory whose return data `say` sets, for all tokens."""
    return scene.chain.deploy(sources()["OddToken"])


def say(contract: Contract, signature: str, *values: int | str) -> None:
    words = (int(value, 16) if isinstance(value, str) else value for value in values)
    contract.send("say", signature, b"".join(word.to_bytes(32) for word in words))


def test_a_pair_of_other_tokens_is_skipped(scene: Scene, odd: Contract) -> None:
    a, b, c, _ = scene.tokens
    real = uniswap_v2(scene.chain)
    real.make(a, b, 0)
    (place,) = found(scene, real, [a, b])
    assert isinstance(place, PoolRef)
    say(odd, "getPair(address,address)", place.address)
    home = real.home._replace(address=odd.address)
    found_ref, *skipped = found(scene, home, [a, b, c])
    assert found_ref == place
    reason = f"{place.address}: a pool of different tokens than requested"
    assert skipped == [SkippedItem(f"{odd.address} {pair}", reason) for pair in (f"{a} {c}", f"{b} {c}")]


def test_a_pool_returned_for_every_fee_is_found_once(scene: Scene, odd: Contract) -> None:
    a, b, _, _ = scene.tokens
    real = uniswap_v3(scene.chain)
    real.make(a, b, 500)
    (place,) = found(scene, real, [a, b])
    assert isinstance(place, PoolRef)
    say(odd, "getPool(address,address,uint24)", place.address)
    (again,) = found(scene, real.home._replace(address=odd.address), [a, b])
    assert isinstance(again, PoolRef)
    assert (again.key, again.tokens, again.constants_as(TickConstants).tick_spacing) == (place.key, (a, b), 10)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("0x" + "77" * 20, "token0(): returned 0 bytes, expected at least 32"),
        ("token", "token0(): the contract reverts"),
        ("0x" + "77" * 32, "getPair(address,address): not an address: its upper 12 bytes are not zero"),
        (None, "getPair(address,address): the factory does not respond"),
    ],
)
def test_an_invalid_pool_is_skipped_with_the_reason(
    scene: Scene, odd: Contract, answer: str | None, reason: str
) -> None:
    a, b, _, _ = scene.tokens
    if answer:
        say(odd, "getPair(address,address)", a if answer == "token" else answer)
    (skipped,) = found(scene, Factory(odd.address, ContractKind.UNISWAP_V2, (V2,)), [a, b])
    assert isinstance(skipped, SkippedItem)
    assert skipped.key.startswith(odd.address)
    assert skipped.reason == reason


@pytest.mark.parametrize("home", EVERY_KIND, ids=lambda home: str(home.protocols[0].amm_name))
def test_a_factory_without_a_contract_is_skipped_once(scene: Scene, home: Factory) -> None:
    tokens = [f"0x{number:040x}" for number in range(1, 31)]
    node = EvmNode(scene.chain)
    (skipped,) = find_pair_pools(packed_reader(node), [home], tokens, tokens[3])
    assert isinstance(skipped, SkippedItem)
    assert skipped.key == home.address
    assert len(node.batch_sizes) == 1


def test_a_factory_of_solidly_may_call_its_pools_pairs(scene: Scene, odd: Contract) -> None:
    a, b, _, _ = scene.tokens
    real = solidly(scene.chain)
    real.make(a, b, 1)
    (place,) = found(scene, real, [a, b])
    assert isinstance(place, PoolRef)
    say(odd, "getPair(address,address,bool)", place.address)
    home = real.home._replace(address=odd.address)
    assert found(scene, home, [a, b]) == [place._replace(constants=FactoryConstants(odd.address))]
    (skipped, _) = found(scene, home._replace(protocols=(VOLATILE,)), [a, b, scene.tokens[2]])[:2]
    assert isinstance(skipped, SkippedItem)
    assert skipped.reason == f"{place.address}: the catalogue has no protocol for it"


def test_fees_fall_back_to_the_catalogue_or_common_ones(scene: Scene, odd: Contract) -> None:
    say(odd, "getPool(address,address,uint24)", 0)
    home = Factory(odd.address, ContractKind.UNISWAP_V3, (V3,))
    assert requested_keys(scene, home) == [100, 500, 2_500, 3_000, 10_000]
    assert requested_keys(scene, home._replace(fee_tiers={77: 3, 500: 10})) == [77, 500]
    say(odd, "feeAmountTickSpacing(uint24)", 0)
    assert requested_keys(scene, home._replace(fee_tiers={77: 3, 500: 10})) == [77, 500]


@pytest.mark.parametrize(
    ("listed", "requested"),
    [
        ([1, 60, 16_383], [1, 60, 16_383]),
        ([60, 0, 60, 2**256 - 1, 16_384], [60]),
        ([], list(USUAL_SPACINGS)),
        ([0], list(USUAL_SPACINGS)),
        (None, list(USUAL_SPACINGS)),
        (list(range(1, 1_000)), list(range(1, 33))),
    ],
)
@pytest.mark.parametrize("protocol", [SLIPSTREAM, V3], ids=lambda protocol: str(protocol.amm_name))
def test_valid_tick_spacings_of_the_factory_are_requested(
    scene: Scene, odd: Contract, listed: list[int] | None, requested: list[int], protocol: ProtocolInfo
) -> None:
    """The functions of a factory decide the lookup key, even against the catalogue."""
    say(odd, "getPool(address,address,int24)", 0)
    if listed is not None:
        odd.send("say", "tickSpacings()", encode(["uint256[]"], [listed]))
    assert requested_keys(scene, Factory(odd.address, ContractKind.UNISWAP_V3, (protocol,))) == requested


def requested_keys(scene: Scene, home: Factory) -> list[int]:
    """Return the keys that the last round requests from a factory."""
    node = RecordingNode(scene.chain)
    assert list(find_pair_pools(MulticallReader(node, BLOCK, None), [home], scene.tokens[:2], None)) == []
    return [int.from_bytes(call.calldata[-32:]) for call in node.rounds[-1]]


WITH_PAIR_LOOKUP = {
    *(ContractKind.UNISWAP_V2, ContractKind.SOLIDLY, ContractKind.SOLIDLY_V1),
    *(ContractKind.UNISWAP_V3, ContractKind.SOLIDLY_V3, ContractKind.RAMSES_V3),
    *(ContractKind.ALGEBRA, ContractKind.UNISWAP_V4, ContractKind.IZISWAP, ContractKind.SMARDEX),
    ContractKind.EKUBO_EVM,
}
ON_STARKNET = (ContractKind.EKUBO, ContractKind.JEDISWAP_CL)
"""Kinds with pair lookup that `tests.payload.starknet` covers."""
WITHOUT_PAIR_LOOKUP = tuple(kind for kind in KINDS if kind not in (*WITH_PAIR_LOOKUP, *ON_STARKNET))


@pytest.mark.parametrize("kind", WITHOUT_PAIR_LOOKUP)
def test_kinds_without_pair_lookup_are_skipped_with_a_reason(scene: Scene, kind: str) -> None:
    home = Factory("0x" + "12" * 20, kind, (V2,))
    reason = f"{kind}: its pools cannot be looked up by token"
    assert found(scene, home, scene.tokens) == [SkippedItem(home.address, reason)]


def test_every_factory_with_pairs_in_the_catalogue_is_queryable() -> None:
    for name in ("base", "citrea", "hyperevm", "monad"):
        every, _ = find_factories(find_network(name))
        node = RecordingNode(Chain(), lambda _: bytes(32 * 1_000))
        skipped = list(find_pair_pools(MulticallReader(node, BLOCK, None), every, [A, B, C], A))
        cannot = {home.address for home in every if home.kind in (*WITHOUT_PAIR_LOOKUP, ContractKind.UNISWAP_V4)}
        assert {each.key for each in skipped if isinstance(each, SkippedItem)} == cannot
        tried = {home.address for home in every if home.kind not in WITHOUT_PAIR_LOOKUP}
        assert {call.to for call in node.rounds[0]} == tried


words = st.one_of(
    st.sampled_from([0, 1, 32, 60, 2**255, 2**256 - 1, int(A, 16), int(B, 16), int(C, 16)]), st.integers(0, 2**256 - 1)
)
answers = st.one_of(
    st.none(),
    st.binary(max_size=100),
    st.lists(words, max_size=40).map(lambda some: b"".join(w.to_bytes(32) for w in some)),
)


@settings(max_examples=examples(25, full=200), deadline=None)
@given(st.lists(answers, min_size=1, max_size=12), st.integers(0, 2**32))
def test_any_return_data_yields_only_pools_of_the_tokens(return_data: list[ReturnData], salt: int) -> None:
    node = RecordingNode(
        Chain(), lambda call: return_data[crc32(call.calldata + call.to.encode(), salt) % len(return_data)]
    )
    lookup = list(find_pair_pools(MulticallReader(node, BLOCK, None), EVERY_KIND, [A, B, C], B))
    for each in lookup:
        if isinstance(each, PoolRef):
            assert each.tokens in {(A, B), (A, C), (B, C), (B, A)}
            assert each.decimals == ()
        else:
            assert each.reason
    keys = [each.key for each in lookup if isinstance(each, PoolRef)]
    assert len(keys) == len({*keys})
    assert sum(node.batch_sizes) <= 6 * 40 + 3 * 4 * (1 + 2 + 2 * 32 + 1 + 5)
