"""Venues that public lists had and no definition did are in a definition, or have a dated reason.

The rows are facts with their sources: DefiLlama/dimension-adapters @e7346b0e, DefiLlama/DefiLlama-Adapters @1eb4e81d
and KyberNetwork/kyberswap-dex-lib @ae6a99aa, read on 2026-11-30.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from swapcli.core.model.network import Network
from swapcli.core.networks.catalogue import find_network
from swapcli.families import FAMILIES

REASONS: Final = Path(__file__).parents[3] / "docs/decisions/sampled-pools.md"
DATE: Final = "As of 2026-11-30"


class MissingVenue(NamedTuple):
    """A venue, and the addresses that the lists give of it."""

    network: str
    venue: str
    addresses: tuple[str, ...]
    source: str


DIM: Final = "dimension-adapters"
TVL: Final = "DefiLlama-Adapters"
KYBER: Final = "kyberswap-dex-lib"
HYPERTRADE_V2: Final = "0x4b6ac7503d3fd79ce23d7ae463d14aaaf07f6573"
AEGIS_PROP: Final = "0x7e00422559c4c6a9b1592a25074a420a96412088"

VENUES: Final = (
    MissingVenue(
        "monad", "Balancer V3", ("0xba1333333333a1ba1108e8412f11850a5c319ba9",), f"{DIM} dexs/balancer-v3; {KYBER}"
    ),
    MissingVenue(
        "monad",
        "Curve StableSwap-NG, TwoCrypto-NG, TriCrypto-NG",
        (
            "0x8271e06e5887fe5ba05234f5315c19f3ec90e8ad",
            "0xe7fbd704b938cb8fe26313c3464d4b7b7348c88c",
            "0x6e28493348446503db04a49621d8e6c9a40015fb",
        ),
        f"{DIM} dexs/curve; {TVL} projects/curve/contracts.json; {KYBER} curve/shared/constant.go",
    ),
    MissingVenue(
        "monad",
        "LFJ Liquidity Book 2.2",
        ("0xb43120c4745967fa9b93e79c149e66b0f2d6fe0c",),
        f"{DIM} factory/joeLiquidityBook.ts",
    ),
    MissingVenue(
        "monad", "Bean Exchange", ("0x8bb9727ca742c146563dccbafb9308a234e1d242",), f"{DIM} dexs/bean-exchange"
    ),
    MissingVenue("monad", "Hanji", ("0x5c28a12c8ebaf8524a2ba1fdc62565571aec87f1",), f"{DIM} dexs/hanji"),
    MissingVenue(
        "monad",
        "iZiSwap",
        ("0x8c7d3063579bdb0b90997e18a770eae32e1ebb08",),
        f"{DIM} dexs/iziswap (chain id 143); the factory: monad-crypto/protocols @0314f305 izumi_finance",
    ),
    MissingVenue("monad", "Pangolin V3", ("0x44805f92db5bb31b54632a55fc4b2b7e885b0e0e",), f"{DIM} dexs/pangolin-v3"),
    MissingVenue(
        "monad",
        "Parity DEX",
        ("0x6dbb0b5b201d02ad74b137617658543ecf800170", "0x2a6ce23c5017af1b07b9c4e4014442ade18bd404"),
        f"{DIM} factory/uniV2.ts, uniV3.ts",
    ),
    MissingVenue(
        "monad",
        "Noxa",
        ("0x8361060ed5f4e8789f1442fb4284eca9b4305985", "0x35af92183701e54f751f8b0376da7f9b151bf5a5"),
        f"{DIM} factory/uniV2.ts, uniV3.ts",
    ),
    MissingVenue(
        "monad",
        "Mento V3 FPMM",
        ("0xa849b475fe5a4b5c9c3280152c7a1945b907613b",),
        f"{DIM} dexs/mento-v3; {TVL} projects/mento-v3",
    ),
    MissingVenue("monad", "LFJ POE", ("0x78120f2c0ebf0cc8b7e7749e62d36e6523dd711d",), f"{DIM} dexs/lfj-poe"),
    MissingVenue(
        "monad",
        "Lunarbase",
        (
            "0x0000a8fd148694ae3e17c079ce4bbf8187758888",
            "0x00007904d186680c709519e71f4dc3e2df8f1b99",
            "0x0b1ce37bc7ee857916b4e2df9f69775c36831b99",
        ),
        f"{DIM} dexs/lunarbase",
    ),
    MissingVenue(
        "base",
        "Lunarbase",
        (
            "0x6ccc8223532fff07f47ef4311beb3647326894ab",
            "0x00003bf45ce34bf1bea78669f9a40ee630e11b99",
            "0x0000efc4ec03a7c47d3a38a9be7ff1d52dd01b99",
        ),
        f"{DIM} dexs/lunarbase",
    ),
    MissingVenue(
        "base",
        "basoFinance V2 and stable",
        ("0xcefbebf0b85b1638c19b01ce2a02c262f421b07d",),
        f"{TVL} registries/uniswapV2.js baso",
    ),
    MissingVenue(
        "base",
        "BVM V2 and stable",
        ("0xe21aac7f113bd5dc2389e4d8a8db854a87fd6951",),
        f"{TVL} registries/uniswapV2.js velocimeter-v2",
    ),
    MissingVenue(
        "base",
        "Uniswap V4 hooks: Aegis 1.1, Aegis prop",
        ("0x8f29bd5c8429730fa4c46e6295c4e679ededd0cc", AEGIS_PROP),
        f"{KYBER} uniswap/v4/hooks",
    ),
    MissingVenue(
        "monad",
        "Uniswap V4 hooks: Aegis 1.0 and 1.1",
        ("0xb4f4949e8d0a177bb6d2fea33e9516bb219610cc", "0xe449e013004db4a5681e9622ca10c5ba0ea610cc"),
        f"{KYBER} uniswap/v4/hooks/aegis",
    ),
    MissingVenue(
        "hyperevm", "Upheaval V2", ("0x98e19a533fadb2c9853983772e4e7aa09a1478e0",), f"{DIM} factory/uniV2.ts; {TVL}"
    ),
    MissingVenue(
        "hyperevm",
        "Hypertrade V2, V3",
        (HYPERTRADE_V2, "0x1cd8363dfada19911f745ba984fce02b42c943bf"),
        f"{TVL} registries/uniswapV2.js; {DIM} factory/uniV3.ts",
    ),
    MissingVenue(
        "hyperevm",
        "Nest V2",
        ("0x889fd0ada8453c7619cd7f11e9029a1f0848fdf5",),
        f"{TVL} registries/uniswapV2.js nest-platform-v2",
    ),
    MissingVenue(
        "hyperevm",
        "Ramses legacy V2",
        ("0xd0a07e160511c40ccd5340e94660e9c9c01b0d27",),
        f"{TVL} registries/uniswapV2.js",
    ),
    MissingVenue("hyperevm", "Turbo V3", ("0xc72d2695a203696243aa3edd6cc98e43262e007e",), f"{DIM} factory/uniV3.ts"),
    MissingVenue(
        "hyperevm",
        "Hyperlynx V2, V3",
        ("0x11cd396f814bd31eba7969c1b27a7c347785951f", "0x418cb4e449869e97db45586ebd9350e1d0424f95"),
        f"{TVL} registries",
    ),
    MissingVenue(
        "hyperevm",
        "Noxa V2, V3",
        ("0xec4a56061d86955d0df883efb2e5791d99ea71f2", "0x0742d64925e4c78cb1baffce2fa1dceba8cf133c"),
        f"{DIM} factory",
    ),
    MissingVenue("hyperevm", "HyperAMM (Helm)", ("0x18ebc3f95cd6b5db55a15864079019c5d2b83dbc",), f"{KYBER} hyperamm"),
    # No address: a version of the family, which pools of Curve's factories have.
    MissingVenue("all", "Curve FXSwap: twocrypto with the StableSwap maths", (), f"{KYBER} curve/twocrypto-ng"),
)


def test_there_are_26_rows_with_sources() -> None:
    assert len(VENUES) == 26
    assert all(each.source and each.venue for each in VENUES)


@pytest.mark.parametrize("row", VENUES, ids=lambda row: f"{row.network} {row.venue}")
def test_a_venue_is_in_a_definition_or_has_a_dated_reason(row: MissingVenue) -> None:
    if not row.addresses:
        assert "cryptoswap" in FAMILIES
        return
    known, reasons = addresses_of(find_network(row.network)), dated_reasons()
    for address in row.addresses:
        assert address in known or address in reasons, address


def addresses_of(network: Network) -> set[str]:
    """Return the addresses that deployments, quoters and hook rules of a network name."""
    from_deployments = {address for each in network.deployments for address in each.addresses.values()}
    named = json.dumps([*map(list, (network.quoters, network.hook_rules))]).lower()
    return from_deployments | {word for word in named.replace('"', " ").replace(",", " ").split() if len(word) == 42}


def dated_reasons() -> str:
    """Return the sections of the reasons that are as of the day on which the lists were read."""
    return "".join(part for part in REASONS.read_text().split("\n## ") if DATE in part).lower()
