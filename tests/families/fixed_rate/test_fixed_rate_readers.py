"""Spark's PSM, vaults and bridges are found at the addresses of the definitions, and read in one round."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.network import ProtocolInfo
from swapcli.core.model.pool import Pool
from swapcli.core.networks.catalogue import find_network
from swapcli.families.fixed_rate.bridge import StablecoinBridge
from swapcli.families.fixed_rate.psm import RAY, PegStabilityModule
from swapcli.families.fixed_rate.vault import ShareVault
from swapcli.families.reading.call_encoding import encode_call
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import SkippedItem, run_batched
from swapcli.families.reading.pool_readers import pool_reader
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.share_price import share_price_calls
from swapcli.state.discovery.pool_discovery import FactoryPools, find_factories, read_listed_pools, read_pool_lists
from swapcli.testing.strategies import ADDRESS, TOKENS
from tests.chain.node.recorded_curve import RecordedContracts

POCKET = "0x" + "0c" * 20
RATE = 1_047_305_891_731_284_733_117_501_234
MODULE = PegStabilityModule(ADDRESS, "test", TOKENS[:3], (6, 18, 18), 0, (10**12, 10**24, 10**23), RATE)
VAULT = ShareVault(
    ADDRESS, "test", (TOKENS[0], ADDRESS), (18, 18), 0, 11 * 10**24 + 1, 10**25 + 7, 2**256 - 1, 11 * 10**24
)
BRIDGE = StablecoinBridge(ADDRESS, "test", TOKENS[:2], (18, 6), 0, 10**12, 10**24, 10**25)


class Contract(RecordedContracts):
    """A contract with functions that compute; `functions` are by selector."""

    def __init__(self) -> None:
        super().__init__()
        self.functions: dict[bytes, Callable[[bytes], int]] = {}

    def send(self, calls: Sequence[ContractCall]) -> list[ReturnData]:
        answers = super().send(calls)
        for k, call in enumerate(calls):
            compute = self.functions.get(call.calldata[:4])
            if compute and call.to == ADDRESS:
                answers[k] = compute(call.calldata[4:]).to_bytes(32)
        return answers

    def compute(self, name: str, function: Callable[[bytes], int], *arguments: int | str) -> None:
        self.functions[encode_call(name, *arguments)[:4]] = function


def argument(data: bytes, index: int) -> int:
    return int.from_bytes(data[32 * index : 32 * index + 32])


def psm_contract(module: PegStabilityModule = MODULE, pocket: str = ADDRESS) -> Contract:
    """Return a module that converts as PSM3's published source, written for integers of any size."""
    contract, unit = (
        Contract(),
        {int(token, 16): 10**k for token, k in zip(module.tokens, module.decimals, strict=True)},
    )
    savings = int(module.tokens[2], 16)

    def convert(data: bytes) -> int:
        sold, bought, amount = (argument(data, k) for k in range(3))
        if bought == savings:
            amount = amount * RAY // module.rate
        elif sold == savings:
            amount = amount * module.rate // RAY
        converted: int = amount * unit[bought] // unit[sold]
        return converted

    contract.compute("previewSwapExactIn(address,address,uint256)", convert, ADDRESS, ADDRESS, 0)
    contract.put_address(ADDRESS, "pocket()", pocket)
    for token, name, reserve in zip(module.tokens, ("usdc()", "usds()", "susds()"), module.reserves, strict=True):
        contract.put_address(ADDRESS, name, token)
        contract.put(token, "balanceOf(address)", reserve, ADDRESS)
    return contract


def vault_contract(vault: ShareVault = VAULT) -> Contract:
    contract = Contract()
    contract.put_address(ADDRESS, "asset()", vault.tokens[0])
    contract.compute("totalAssets()", lambda _: vault.max_redeemed)
    contract.compute("maxDeposit(address)", lambda _: vault.max_deposit, ADDRESS)
    contract.compute("previewDeposit(uint256)", lambda data: argument(data, 0) * vault.shares // vault.assets, 0)
    contract.compute("previewRedeem(uint256)", lambda data: argument(data, 0) * vault.assets // vault.shares, 0)
    return contract


def bridge_contract(bridge: StablecoinBridge = BRIDGE, *, mints: bool = True, burns: bool = True) -> Contract:
    contract = Contract()
    contract.put_address(ADDRESS, "JUSD()", bridge.tokens[0])
    contract.put_address(ADDRESS, "usd()", bridge.tokens[1])
    contract.put(ADDRESS, "minted()", bridge.minted)
    contract.put(ADDRESS, "limit()", bridge.limit)
    contract.put(bridge.tokens[1], "balanceOf(address)", bridge.reserve, ADDRESS)
    if mints:
        contract.compute("mintTo(address,uint256)", lambda _: 0, ADDRESS, 0)
    if burns:
        contract.compute("burnAndSend(address,uint256)", lambda _: 0, ADDRESS, 0)
    return contract


def found(kind: str, contract: Contract) -> PoolRef | SkippedItem:
    factory = Factory(ADDRESS, kind, (ProtocolInfo(1, "test", "Test", kind),))
    (ref,) = run_batched([(ADDRESS, pool_reader(kind).read_constants(factory, ADDRESS))], contract.send)
    return ref


def read(ref: PoolRef | SkippedItem, decimals: tuple[int, ...], contract: Contract) -> Pool | SkippedItem:
    assert isinstance(ref, PoolRef)
    contract.rounds = 0
    load = pool_reader(ref.kind).load(ref._replace(decimals=decimals))
    (pool,) = run_batched([(ADDRESS, load)], contract.send)
    return pool


CASES = [
    ("psm", psm_contract, MODULE),
    (ContractKind.VAULT, vault_contract, VAULT),
    ("bridge", bridge_contract, BRIDGE),
]


@pytest.mark.parametrize(("kind", "build", "pool"), CASES, ids=[case[0] for case in CASES])
def test_a_pool_is_found_and_read_in_one_round(kind: str, build: Callable[[], Contract], pool: Pool) -> None:
    contract = build()
    ref = found(kind, contract)
    assert isinstance(ref, PoolRef)
    assert ref.tokens == pool.tokens
    assert read(ref, pool.decimals, contract) == pool
    assert contract.rounds == 1


def test_dollars_in_the_pocket_take_one_more_round() -> None:
    contract = psm_contract(pocket=POCKET)
    contract.put(TOKENS[0], "balanceOf(address)", 9 * 10**12, POCKET)
    contract.put(TOKENS[0], "allowance(address,address)", 7 * 10**12, POCKET, ADDRESS)
    pool = read(found("psm", contract), MODULE.decimals, contract)
    assert isinstance(pool, PegStabilityModule)
    assert pool.reserves == (7 * 10**12, *MODULE.reserves[1:])
    assert contract.rounds == 2


def test_a_module_with_other_maths_is_left_out() -> None:
    contract = psm_contract()
    preview = contract.functions[encode_call("previewSwapExactIn(address,address,uint256)", ADDRESS, ADDRESS, 0)[:4]]
    contract.compute(
        "previewSwapExactIn(address,address,uint256)", lambda data: preview(data) * 9_999 // 10_000, ADDRESS, ADDRESS, 0
    )
    skipped = read(found("psm", contract), MODULE.decimals, contract)
    assert isinstance(skipped, SkippedItem)
    assert "does not convert at one rate" in skipped.reason


@pytest.mark.parametrize("rate", [0, 2**130])
def test_a_module_without_a_usable_rate_is_left_out(rate: int) -> None:
    contract = psm_contract()
    contract.compute("previewSwapExactIn(address,address,uint256)", lambda _: rate, ADDRESS, ADDRESS, 0)
    assert isinstance(read(found("psm", contract), MODULE.decimals, contract), SkippedItem)


def test_a_vault_without_a_price_is_left_out() -> None:
    contract = vault_contract()
    contract.compute("previewDeposit(uint256)", lambda data: argument(data, 0) * 999 // 1000, 0)
    skipped = read(found(ContractKind.VAULT, contract), VAULT.decimals, contract)
    assert isinstance(skipped, SkippedItem)
    assert "no constant price" in skipped.reason
    assert len(share_price_calls(ADDRESS)) > 5


def test_a_bridge_that_no_longer_mints_still_burns() -> None:
    contract = bridge_contract(mints=False)
    pool = read(found("bridge", contract), BRIDGE.decimals, contract)
    assert isinstance(pool, StablecoinBridge)
    assert (pool.limit, pool.reserve) == (0, BRIDGE.reserve)
    contract = bridge_contract(burns=False)
    pool = read(found("bridge", contract), BRIDGE.decimals, contract)
    assert isinstance(pool, StablecoinBridge)
    assert (pool.limit, pool.reserve) == (BRIDGE.limit, 0)


def test_a_bridge_that_was_closed_is_left_out() -> None:
    contract = bridge_contract(mints=False, burns=False)
    skipped = read(found("bridge", contract), BRIDGE.decimals, contract)
    assert isinstance(skipped, SkippedItem)
    assert "neither mints nor burns" in skipped.reason


def test_the_catalogue_has_their_addresses() -> None:
    kinds = {"psm": 1, ContractKind.VAULT: 1, "bridge": 3}
    factories = [each for name in ("base", "citrea") for each in find_factories(find_network(name))[0]]
    for kind, count in kinds.items():
        of_kind = [factory for factory in factories if factory.kind == kind]
        assert len(of_kind) == count
        assert all(factory.is_enumerable for factory in of_kind)


class _Reader:
    """A reader of one contract."""

    width = 1

    def __init__(self, contract: Contract) -> None:
        self.call = contract.send


def test_an_address_of_the_catalogue_is_a_list_of_one_pool() -> None:
    factory = Factory(ADDRESS, "psm", (ProtocolInfo(1, "test", "Test", "psm"),))
    reader = _Reader(psm_contract())
    (listing,) = read_pool_lists(reader, [factory])  # type: ignore[arg-type]
    assert isinstance(listing, FactoryPools)
    assert listing.length == 1
    (ref,) = read_listed_pools(reader, listing, 0, 10)  # type: ignore[arg-type]
    assert isinstance(ref, PoolRef)
    assert (ref.address, ref.tokens, ref.protocol) == (ADDRESS, MODULE.tokens, "test")


def test_an_address_without_a_contract_is_no_list() -> None:
    factory = Factory(ADDRESS, "psm", (ProtocolInfo(1, "test", "Test", "psm"),))
    (listing,) = read_pool_lists(_Reader(Contract()), [factory])  # type: ignore[arg-type]
    assert isinstance(listing, SkippedItem)
