"""The quote functions in the packaged definitions are complete, and mistakes in a user's definition are refused."""

from __future__ import annotations

from typing import Any

import pytest

from swapcli.core.errors import ConfigError
from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.core.networks.quoter_definitions import checked_protocols, parse_checks, parse_quoters, quoted_protocols
from tests.support.outside_ids import keccak256

SELECTORS = {
    "tessera": "77f65f98",
    "elfomofi": "4aa06652",
    "wassabi": "9f4f3549",
    "izumiV3": "0980929e",
    "uniswapV4": "aa9d21cb",
    "liquidCore": "3f2f869a",
    **dict.fromkeys(("Nabla Finance", "nablaFinance"), "708d4d94"),
    **dict.fromkeys(("dodoDPP", "dodoDSP", "dodoDVM"), "79a04876 66410a21"),
    **dict.fromkeys(
        ("balancerLBPool", "balancerFixedPriceLBP", "balancerV3FixedPriceLBP", "balancerV3QuantAMM"), "3ebc54e5"
    ),
    "metric": "89aad153",
}
"""As found in the contracts' ABIs; of the sale of the first token and of the second where they differ."""


@pytest.mark.parametrize("name", network_names())
def test_every_sampled_protocol_has_a_quote_function(name: str) -> None:
    network = find_network(name)
    quoters = parse_quoters(network)
    assert list(quoters) == list(quoted_protocols(network))
    assert {each.amm_name for each in network.protocols if each.family == "sampled"} <= quoters.keys()
    assert quoters.keys() <= {each.amm_name for each in network.protocols}
    checks = parse_checks(network)
    assert checks.keys() == checked_protocols(network)
    assert {each.amm_name for each in network.protocols if each.family == "sampled"}.isdisjoint(checks)
    for protocol, quoter in {**quoters, **checks}.items():
        assert quoter.source
        if protocol in SELECTORS:
            found = [keccak256(quote.function.signature.encode())[:4].hex() for quote in quoter.quotes]
            assert list(dict.fromkeys(found)) == SELECTORS[protocol].split()


FACTORY = "0x" + "12" * 20
QUOTER = {
    "protocols": ["uniswapV2"],
    "quote": {"contract": "$pool", "call": "quote(address,uint256)", "arguments": ["$token_in", "$amount"]},
}
CREATED = {
    "contract": FACTORY,
    "event": "NewPool(address,address,address)",
    "entry": ["token0", "token1", "pool"],
}


def parsed(**changes: Any) -> None:
    network = find_network("base")._replace(quoters=({**QUOTER, **changes},))
    parse_quoters(network)


def test_a_short_definition_is_enough() -> None:
    parsed()
    parsed(created=CREATED)
    parsed(created=CREATED, reads=[{"name": "a", "contract": "$pool", "call": "f()"}])


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"quote": {"contract": "$pool", "call": "quote(address)", "arguments": []}}, "arguments"),
        ({"quote": {"contract": "$pool", "call": "quote", "arguments": []}}, "call"),
        ({"quote": {"contract": "$vault", "call": "quote()"}}, "contract"),
        ({"quote": {"contract": "pool", "call": "quote()"}}, "contract"),
        ({"quote": [{"contract": "$pool", "call": "quote()"}]}, "quote"),
        ({"holder": "$nobody"}, "holder"),
        ({"reads": [{"name": "a", "contract": "$b", "call": "f()"}]}, "contract"),
        (
            {"list": {"contract": FACTORY, "call": "f(uint256)", "arguments": ["$index"], "entry": ["pool"]}},
            "arguments",
        ),
        ({"quote": {"contract": "0x12", "call": "quote()"}}, "contract"),
        ({"pools": [{"token0": "0x12"}]}, "token0"),
        ({"pools": [{"number": "first"}]}, "number"),
        ({"protocols": []}, "protocols"),
        ({"protocols": ["uniswapV22"]}, "protocols"),
        ({"created": {**CREATED, "entry": ["token0", "pool"]}}, "entry"),
        ({"created": {**CREATED, "event": "NewPool"}}, "event"),
        ({"created": {**CREATED, "contract": "$pool"}}, "contract"),
        ({"created": {**CREATED, "call": "f()"}}, "call"),
        ({"created": CREATED, "reads": [{"name": "a", "contract": "$b", "call": "f()"}]}, "contract"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_mistakes_are_named(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parsed(**changes)
    assert problem in str(caught.value.details["key"])


def test_mistakes_in_settings_need_no_node_to_be_found() -> None:
    with pytest.raises(ConfigError) as caught:
        find_network("base", {"base": {"quoters": [{**QUOTER, "holder": "$nobody"}]}})
    assert caught.value.details["key"] == "networks.base.quoters[0].holder"
