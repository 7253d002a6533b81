"""Derived pool addresses against real ones, recorded or published."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.networks.catalogue import all_network_names, find_network
from swapcli.core.networks.pool_addresses import (
    create2_address,
    deployment_of,
    is_solidly,
    pool_address,
    solidly_pair_address,
    v2_pair_address,
    v3_pool_address,
    v4_pool_id,
)
from tests.support.outside_ids import keccak256

_RECORDED = {
    name: json.loads(Path(__file__).with_name(f"recorded_{name}_pools.json").read_text())["pools"]
    for name in ("base", "ethereum")
}

# The examples of EIP-1014: deployer, salt, init code, address.
EIP_1014 = (
    ("0x" + "00" * 20, "00" * 32, "00", "0x4D1A2e2bB4F88F0250f26Ffff098B0b30B26BF38"),
    ("0xdeadbeef" + "00" * 16, "00" * 32, "00", "0xB928f69Bb1D91Cd65274e3c79d8986362984fDA3"),
    (
        "0xdeadbeef" + "00" * 16,
        "000000000000000000000000feed000000000000000000000000000000000000",
        "00",
        "0xD04116cDd17beBE565EB2422F2497E06cC1C9833",
    ),
    ("0x" + "00" * 20, "00" * 32, "deadbeef", "0x70f2b2914A2a4b783FaEFb75f459A580616Fcb5e"),
    (
        "0x00000000000000000000000000000000deadbeef",
        "00000000000000000000000000000000000000000000000000000000cafebabe",
        "deadbeef",
        "0x60f3f640a8508fC6a86d45DF051962668E1e8AC7",
    ),
    (
        "0x00000000000000000000000000000000deadbeef",
        "00000000000000000000000000000000000000000000000000000000cafebabe",
        "deadbeef" * 11,
        "0x1d8bfDC5D46DC4f61D6b6115972536eBE6A8854C",
    ),
    ("0x" + "00" * 20, "00" * 32, "", "0xE33C0C7F7df4809055C3ebA6c09CFe4BaF1BD9e0"),
)

# Published pools: network, protocol, tokens, tier, address. The sources are those of the network's deployments.
PUBLISHED = (
    ("hyperevm", "hyperSwapV3", "WHYPE/USDT0", 100, "0x7f63ac9b82905d870071024fa310cf0ab8a74ad1"),
    ("hyperevm", "hyperSwapV3", "WHYPE/USDT0", 500, "0x337b56d87a6185cd46af3ac2cdf03cbc37070c30"),
    ("hyperevm", "hyperSwapV3", "WHYPE/USDT0", 3000, "0x56abfaf40f5b7464e9cc8cff1af13863d6914508"),
    ("hyperevm", "projectX", "WHYPE/USDT0", 500, "0xbd19e19e4b70eb7f248695a42208bc1edbbfb57d"),
    ("hyperevm", "projectX", "WHYPE/USDT0", 3000, "0x161fb7d6c764f81dae581e8a4981772750416727"),
    ("hyperevm", "hybraFinanceV3", "WHYPE/USDT0", 2500, "0x3603ffebb994cc110b4186040cac3005b2cf4465"),
    ("monad", "UniswapV3", "WMON/USDC", 3000, "0x659bd0bc4167ba25c62e05656f78043e7ed4a9da"),
    ("monad", "UniswapV2", "WMON/USDC", 3000, "0x3fe12728ea1b89e4bac6e59a9130b61a27d032f8"),
    ("monad", "PancakeSwapV3", "WMON/USDC", 500, "0x63e48b725540a3db24acf6682a29f877808c53f2"),
    ("monad", "PancakeSwapV3", "WMON/AUSD", 500, "0xd5b70d70cbe6c42bcd1aaa662a21673a83f4615b"),
    ("monad", "PancakeSwapV2", "WMON/USDC", 2500, "0x27aa322b3f8ba9d0041df99c33fe4f3cc135e054"),
    ("monad", "CapricornCL", "WMON/USDC", 500, "0x6fe101b4ccddf99f40cfb8cb12089f6927a16d4c"),
    ("monad", "CapricornCL", "WMON/USDC", 3000, "0x878750488f613e043d016f99913e639e58bc1e52"),
    ("citrea", "juiceSwap", "WcBTC/USDC.e", 3000, "0xd77f369715e227b93d48b09066640f46f0b01b29"),
    ("base", "pancakeSwapV2", "WETH/USDbC", 2500, "0x92363f9817f92a7ae0592a4cb29959a88d885cc8"),
    # Of these networks, well-known pools; half of them were found again in public repositories (degenbot,
    # kyberswap-dex-lib, DefiLlama's adapters). That a hash derives an address leaves no doubt about either.
    ("ethereum", "uniswapV2", "USDC/WETH", 3000, "0xb4e16d0168e52d35cacd2c6185b44281ec28c9dc"),
    ("ethereum", "uniswapV3", "USDC/WETH", 500, "0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640"),
    ("ethereum", "sushiSwapV2", "USDC/WETH", 3000, "0x397ff1542f962076d0bfe58ea045ffa2d347aca0"),
    ("ethereum", "sushiSwapV3", "USDC/WETH", 500, "0x35644fb61afbc458bf92b15add6abc1996be5014"),
    ("ethereum", "pancakeSwapV3", "USDC/WETH", 500, "0x1ac1a8feaaea1900c4166deeed0c11cc10669d36"),
    ("ethereum", "shibaSwapV2", "USDC/WETH", 3000, "0x20e95253e54490d8d30ea41574b24f741ee70201"),
    ("ethereum", "defiSwapV2", "USDC/WETH", 3000, "0x3aa370aacf4cb08c7e1e7aa8e8ff9418d73c7e0f"),
    ("arbitrum", "uniswapV3", "WETH/USDC.e", 500, "0xc31e54c7a869b9fcbecc14363cf510d1c41fa443"),
    ("arbitrum", "uniswapV3", "WETH/USDC", 500, "0xc6962004f452be9203591991d15f6b388e09e8d0"),
    ("arbitrum", "sushiSwapV2", "WETH/USDC.e", 3000, "0x905dfcd5649217c42684f23958568e533c711aa3"),
    ("arbitrum", "sushiSwapV3", "WETH/USDC", 500, "0xf3eb87c1f6020982173c908e7eb31aa66c1f0296"),
    ("arbitrum", "pancakeSwapV3", "WETH/USDC", 500, "0xd9e2a1a61b6e61b275cec326465d417e52c1b95c"),
    ("optimism", "uniswapV3", "WETH/USDC.e", 500, "0x85149247691df622eaf1a8bd0cafd40bc45154a9"),
    ("optimism", "uniswapV3", "WETH/OP", 3000, "0x68f5c0a2de713a54991e01858fd27a3832401849"),
    ("optimism", "velodromeV2Classic", "WETH/USDC.e", 0, "0x0493bf8b6dbb159ce2db2e0e8403e753abd1235b"),
    ("optimism", "velodromeV3", "WETH/USDC", 100, "0x478946bcd4a5a22b316470f5486fafb928c0ba25"),
    ("bnb", "pancakeSwapV2", "WBNB/BUSD", 2500, "0x58f876857a02d6762e0101bb5c46a8c1ed44dc16"),
    ("bnb", "pancakeSwapV2", "WBNB/USDT", 2500, "0x16b9a82891338f9ba80e2d6970fdda79d1eb0dae"),
    ("bnb", "pancakeSwapV3", "USDT/WBNB", 500, "0x36696169c63e42cd08ce11f5deebbcebae652050"),
    ("bnb", "uniswapV3", "USDT/WBNB", 500, "0x6fe9e9de56356f7edbfcbb29fab7cd69471a4869"),
    ("bnb", "apeSwapV2", "WBNB/BUSD", 2000, "0x51e6d27fa57373d8d4c256231241053a70cb1d93"),
    ("bnb", "sushiSwapV2", "WBNB/BUSD", 3000, "0xdc558d64c29721d74c4456cfb4363a6e6660a9bb"),
    ("polygon", "uniswapV3", "WPOL/USDC.e", 500, "0xa374094527e1673a86de625aa59517c5de346d32"),
    ("polygon", "uniswapV3", "USDC.e/WETH", 500, "0x45dda9cb7c25131df268515131f647d726f50608"),
    ("polygon", "quickSwapV2", "WPOL/USDC.e", 3000, "0x6e7a5fafcec6bb1e78bae2a1f0b612012bf14827"),
    ("polygon", "sushiSwapV2", "WETH/USDC.e", 3000, "0x34965ba0ac2451a34a0471f04cca3f990b8dea27"),
    ("polygon", "apeSwapV2", "WPOL/WETH", 2000, "0x6cf8654e85ab489ca7e70189046d507eba233613"),
    ("avalanche", "uniswapV3", "WAVAX/USDC", 500, "0xfae3f424a0a47706811521e3ee268f00cfb5c45e"),
    ("avalanche", "lfjV1", "WAVAX/USDC", 3000, "0xf4003f4efbe8691b60249e6afbd307abe7758adb"),
    ("avalanche", "pangolinV2", "WAVAX/USDC", 3000, "0x0e0100ab771e9288e0aa97e11557e6654c3a9665"),
)


@pytest.mark.parametrize(
    ("name", "protocol"), sorted({(name, row[0]) for name, rows in _RECORDED.items() for row in rows})
)
def test_every_recorded_pool_is_derived(name: str, protocol: str) -> None:
    network = find_network(name)
    rows = [row for row in _RECORDED[name] if row[0] == protocol]
    wrong = [row for row in rows if pool_address(network, *row[:4]) != row[4]]
    assert len(rows) >= (4 if protocol == "pancakeSwapV2" else 10)
    assert wrong == []


def test_the_recorded_pools_cover_every_kind_of_derivation() -> None:
    kinds = {"uniswapV2", "uniswapV3", "sushiSwapV3", "pancakeSwapV3"}
    kinds |= {"aerodromeV3", "aerodromeV2Stable", "aerodromeV2Classic"}
    assert {row[0] for row in _RECORDED["base"]} == kinds
    on_ethereum = {"uniswapV2", "uniswapV3", "sushiSwapV2", "pancakeSwapV2", "pancakeSwapV3"}
    assert {row[0] for row in _RECORDED["ethereum"]} == on_ethereum


@pytest.mark.parametrize(("name", "protocol", "symbols", "tier", "address"), PUBLISHED)
def test_published_pools_are_derived(name: str, protocol: str, symbols: str, tier: int, address: str) -> None:
    by_symbol = {token.symbol: token.address for token in find_network(name).tokens}
    token_a, token_b = (by_symbol[symbol] for symbol in symbols.split("/"))
    assert pool_address(find_network(name), protocol, token_a, token_b, tier) == address


def test_published_uniswap_v4_pools_of_base_have_the_derived_ids() -> None:
    native, usdc = "0x" + "0" * 40, "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
    assert v4_pool_id(native, usdc, 100, 1) == "0xe87077fd043c1a6afa5256104acb1d1eb5ca5bc031ee57f9d96c8172ead4bef8"
    assert v4_pool_id(native, usdc, 500, 10) == "0x96d4b53a38337a5733179751781178a2613306063c511b78cd02684739288c0a"


def test_all_pools_of_uniswap_v4_are_in_its_pool_manager() -> None:
    base = find_network("base")
    weth, usdc = (token.address for token in base.tokens[:2])
    assert pool_address(base, "uniswapV4", weth, usdc, 500) == "0x498581ff718922c3f8e6a244956af099b2652b2b"


def clone_init_code_hash(implementation: str) -> str:
    """Return the hash of the init code of a minimal proxy (EIP-1167), as OpenZeppelin's Clones deploys it."""
    init_code = "3d602d80600a3d3981f3363d3d373d3d3d363d73" + implementation[2:] + "5af43d82803e903d91602b57fd5bf3"
    assert len(init_code) == 2 * 55
    return "0x" + keccak256(bytes.fromhex(init_code)).hex()


@pytest.mark.parametrize("name", all_network_names())
def test_init_code_hashes_of_clones_match_their_implementations(name: str) -> None:
    for deployment in find_network(name).deployments:
        implementation = deployment.addresses.get("pool_implementation")
        assert implementation is None or deployment.init_code_hash == clone_init_code_hash(implementation)


@pytest.mark.parametrize(
    ("name", "protocol"),
    [
        ("base", "bvmV2"),  # no deployment
        ("base", "alienbaseV3"),  # no init code hash
        ("base", "hydrex"),  # Algebra
        ("base", "curveFi"),  # no factory
        ("base", "noSuchProtocol"),
        ("hyperevm", "hyperSwapV2"),
        ("starknet", "JediSwap"),
    ],
)
def test_no_address_is_derived_from_an_incomplete_catalogue(name: str, protocol: str) -> None:
    token_a, token_b = (token.address for token in find_network(name).tokens[:2])
    assert pool_address(find_network(name), protocol, token_a, token_b, 3000) is None


def test_a_factory_with_a_stable_protocol_is_taken_for_solidly() -> None:
    base = find_network("base")
    assert is_solidly(base, "aerodromeV2Classic")
    assert is_solidly(base, "aerodromeV2Stable")
    assert not is_solidly(base, "uniswapV2")
    assert is_solidly(base, "bvmV2")
    assert deployment_of(base, "dodoCP") is None


evm_addresses = st.binary(min_size=20, max_size=20).map(lambda raw: "0x" + raw.hex())


@pytest.mark.parametrize(("deployer", "salt", "init_code", "address"), EIP_1014)
def test_the_examples_of_eip_1014_give_their_addresses(deployer: str, salt: str, init_code: str, address: str) -> None:
    init_code_hash = "0x" + keccak256(bytes.fromhex(init_code)).hex()
    assert create2_address(deployer, bytes.fromhex(salt), init_code_hash) == address.lower()


@given(evm_addresses, evm_addresses, evm_addresses, st.integers(0, 2**24 - 1))
def test_a_pool_address_does_not_depend_on_the_token_order(factory: str, a: str, b: str, key: int) -> None:
    code = "0x" + "ab" * 32
    assert v2_pair_address(factory, a, b, code) == v2_pair_address(factory, b, a, code)
    assert v3_pool_address(factory, a, b, key, code) == v3_pool_address(factory, b, a, key, code)
    for stable in (False, True):
        forth, back = (solidly_pair_address(factory, x, y, stable, code) for x, y in ((a, b), (b, a)))
        assert forth == back
    assert v4_pool_id(a, b, key, 60) == v4_pool_id(b, a, key, 60)


@given(evm_addresses, evm_addresses, st.integers(0, 9_999))
def test_tiers_and_kinds_of_pools_have_different_addresses(a: str, b: str, key: int) -> None:
    factory, code = "0x" + "11" * 20, "0x" + "ab" * 32
    assert v3_pool_address(factory, a, b, key, code) != v3_pool_address(factory, a, b, key + 1, code)
    stable, volatile = (solidly_pair_address(factory, a, b, kind, code) for kind in (True, False))
    assert len({stable, volatile, v2_pair_address(factory, a, b, code)}) == 3
    assert v4_pool_id(a, b, key, 10) != v4_pool_id(a, b, key, 60)
