"""Networks from mappings: complete ones, additions to known ones, and errors that name the key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import ConfigError
from swapcli.core.model.network import Deployment, Kind, Network, ProtocolInfo
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.token import Token
from swapcli.core.model.transfer_behaviour import ORDINARY, SHARES, TransferBehaviour
from swapcli.core.networks.catalogue import find_network
from swapcli.core.networks.definition import ADDED_KEYS, NETWORK_KEYS, extend_network, parse_network

A, B, C = ("0x" + digit * 40 for digit in "abc")
FELT = "0x" + "0" * 62 + "5a"


def small() -> dict[str, Any]:
    """Return a minimal network with one or two entries in every list."""
    return {
        "name": "tiny",
        "chain_id": 31337,
        "native": {"symbol": "ETH", "name": "Ether", "decimals": 18},
        "wrapped_native": A,
        "tokens": [
            {"address": A, "symbol": "WETH", "name": "Wrapped Ether", "decimals": 18},
            {"address": B, "symbol": "USD", "name": "Dollar", "decimals": 6},
        ],
        "protocols": [
            {"id": 0, "amm_name": "wrapper", "display_name": "Wrapper", "family": "wrapper"},
            {"id": 7, "amm_name": "dex", "display_name": "Dex", "family": "concentrated", "extra_keys": ["fee"]},
        ],
        "deployments": [
            {
                "protocols": ["dex"],
                "name": "Dex",
                "addresses": {"factory": B},
                "init_code_hash": "0x" + "AB" * 32,
                "fee_tiers": {"500": 10, 3000: 60},
                "source": "here",
                "unconfirmed": ["fee_tiers"],
            }
        ],
        "stablecoins": [B],
    }


def test_a_mapping_alone_makes_a_network() -> None:
    tiny = parse_network(small(), "somewhere")
    weth = Token(A, "WETH", "Wrapped Ether", 18)
    assert tiny == Network(
        name="tiny",
        kind=Kind.EVM,
        chain_id=31337,
        native=Token(ZERO_ADDRESS, "ETH", "Ether", 18),
        wrapped_native=weth,
        tokens=(weth, Token(B, "USD", "Dollar", 6)),
        protocols=(
            ProtocolInfo(0, "wrapper", "Wrapper", "wrapper"),
            ProtocolInfo(7, "dex", "Dex", "concentrated", ("fee",)),
        ),
        deployments=(
            Deployment(("dex",), "Dex", {"factory": B}, "0x" + "ab" * 32, {500: 10, 3000: 60}, "here", ("fee_tiers",)),
        ),
        stablecoins=(B,),
    )


def test_hooks_are_addresses_by_protocol() -> None:
    (deployment,) = small()["deployments"]
    tiny = parse_network(
        {**small(), "deployments": [{**deployment, "hooks": {"dex": [B.upper().replace("X", "x")]}}]}, "x"
    )
    assert tiny.deployments[0].hooks == {"dex": (B,)}


def test_an_unlisted_wrapped_token_is_named_after_the_native_one() -> None:
    tiny = parse_network({**small(), "wrapped_native": C}, "somewhere")
    assert tiny.wrapped_native == Token(C, "WETH", "Wrapped Ether", 18)


def test_a_wrapped_native_token_may_be_inline_or_absent() -> None:
    described = {"address": C, "symbol": "WX", "name": "Wrapped X", "decimals": 18}
    assert parse_network({**small(), "wrapped_native": described}, "x").wrapped_native == Token(
        C, "WX", "Wrapped X", 18
    )
    assert parse_network({**small(), "wrapped_native": None}, "x").wrapped_native is None


def test_names_are_read_in_lower_case_and_chain_ids_also_as_text() -> None:
    tiny = parse_network({**small(), "name": "Tiny", "chain_id": "23448594291968334"}, "x")
    assert (tiny.name, tiny.chain_id) == ("tiny", 23448594291968334)


def test_starknet_has_no_v2_and_an_address_for_its_native_token() -> None:
    mapping = {
        "name": "felt",
        "kind": "starknet",
        "chain_id": 5,
        "native": {"symbol": "STRK", "name": "Starknet Token", "decimals": 18, "address": "0x5A"},
        "tokens": [{"address": "0x5a", "symbol": "STRK", "name": "Starknet Token", "decimals": 18}],
    }
    felt = parse_network(mapping, "x")
    assert (felt.kind, felt.has_v2, felt.native.address, felt.tokens[0].address) == (Kind.STARKNET, False, FELT, FELT)
    with pytest.raises(ConfigError, match=r"x\.native\.address: missing; expected a Starknet address"):
        parse_network({**mapping, "native": {"symbol": "STRK", "name": "Starknet Token", "decimals": 18}}, "x")


def _without(key: str) -> Callable[[dict[str, Any]], object]:
    return lambda mapping: mapping.pop(key)


def _with(key: str, value: object) -> Callable[[dict[str, Any]], object]:
    return lambda mapping: mapping.update({key: value})


def _in(key: str, index: int, **changes: object) -> Callable[[dict[str, Any]], object]:
    return lambda mapping: mapping[key][index].update(changes)


MALFORMED = [
    (_without("name"), "net.name: missing; expected a non-empty text"),
    (_with("name", "no spaces"), 'net.name: expected letters, digits, - and _, not "no spaces"'),
    (_with("name", ""), 'net.name: expected a non-empty text, not ""'),
    (_with("kind", "solana"), 'net.kind: expected one of evm, starknet, not "solana"'),
    (_without("chain_id"), "net.chain_id: missing"),
    (_with("chain_id", 0), "net.chain_id: expected an integer from 1 to "),
    (_with("chain_id", True), "not true"),
    (_with("chain_id", 1.0), "not 1.0"),
    (_with("chain_id", "0x1"), 'not "0x1"'),
    (_without("native"), "net.native: missing; expected an object"),
    (_with("native", "ETH"), 'net.native: expected an object, not "ETH"'),
    (
        _with("native", {"symbol": "E", "name": "E", "decimals": 78}),
        "net.native.decimals: expected an integer from 0",
    ),
    (_with("wrapped_native", 4), "net.wrapped_native: expected an object, not 4"),
    (_with("wrapped_native", "0x12"), "net.wrapped_native: "),
    (_with("wrapped_native", B), "net.wrapped_native: expected 18 decimals like the native token, not 6"),
    (_with("tokens", {}), "net.tokens: expected a list, not an object"),
    (_with("tokens", ["WETH"]), 'net.tokens[0]: expected an object, not "WETH"'),
    (_in("tokens", 1, address=0x12), "net.tokens[1].address: expected an EVM address in quotes, not 18"),
    (_in("tokens", 1, address=None), "net.tokens[1].address: expected an EVM address, not null"),
    (_in("tokens", 1, address="0x12"), 'net.tokens[1].address: "0x12" is not an EVM address'),
    (_in("tokens", 1, address=A), f"net.tokens: {A} is listed twice"),
    (_in("tokens", 1, symbol=" \n"), "net.tokens[1].symbol: expected a non-empty text"),
    (_in("tokens", 1, decimals=-1), "net.tokens[1].decimals: expected an integer from 0 to 77, not -1"),
    (_in("tokens", 1, decimals=10**400), "not a 1329-bit number"),
    (_in("tokens", 1, price=2), 'net.tokens[1]: unknown key "price"'),
    (_in("protocols", 1, id=0), "net.protocols: 0 is listed twice"),
    (_in("protocols", 1, amm_name="wrapper"), "net.protocols: wrapper is listed twice"),
    (_in("protocols", 1, id=2**23), "net.protocols[1].id: expected an integer from 0 to 8388607"),
    (_in("protocols", 1, extra_keys="fee"), 'net.protocols[1].extra_keys: expected a list, not "fee"'),
    (_in("protocols", 1, extra_keys=[3]), "net.protocols[1].extra_keys[0]: expected a non-empty text, not 3"),
    (_in("protocols", 1, confirmed=1), "net.protocols[1].confirmed: expected true or false, not 1"),
    (_in("protocols", 1, family=["x"]), "net.protocols[1].family: expected a non-empty text, not a list"),
    (_in("deployments", 0, addresses=[B]), "net.deployments[0].addresses: expected an object, not a list"),
    (_in("deployments", 0, addresses={"factory": "x"}), "net.deployments[0].addresses.factory: "),
    (_in("deployments", 0, addresses={"factroy": B}), 'net.deployments[0].addresses.factroy: unknown role "factroy"'),
    (_in("deployments", 0, protocols=["dex", "dxe"]), 'net.deployments[0].protocols[1]: unknown protocol "dxe"'),
    (_in("deployments", 0, hooks={"other": [B]}), 'net.deployments[0].hooks: unknown key "other"'),
    (_in("deployments", 0, hooks={"dex": [B, "x"]}), "net.deployments[0].hooks.dex[1]: "),
    (_in("deployments", 0, hooks=[B]), "net.deployments[0].hooks: expected an object, not a list"),
    (_in("deployments", 0, init_code_hash="0x12"), "net.deployments[0].init_code_hash: expected 0x and 64"),
    (_in("deployments", 0, fee_tiers={"five": 1}), "net.deployments[0].fee_tiers.five: expected an integer"),
    (_in("deployments", 0, fee_tiers={"500": -1}), "net.deployments[0].fee_tiers.500: expected an integer"),
    (_with("router", "0x"), "net.router: "),
    (
        _with("routers", {"universal-router": {"protocols": {"dex": "v5"}}}),
        'net.routers.universal-router.protocols.dex: expected one of v2, v3, v4, not "v5"',
    ),
    (_with("rpc_urls", "http://one"), "net.rpc_urls: expected a list"),
    (_with("stablecoins", ["USD"]), "net.stablecoins[0]: "),
    (_with("gas_price_wei", -1), "net.gas_price_wei: expected an integer"),
    (_with("block_time_s", "2"), 'net.block_time_s: expected a number above 0, not "2"'),
    (_with("block_time_s", float("nan")), "net.block_time_s: expected a number above 0"),
    (_with("has_v2", "yes"), 'net.has_v2: expected true or false, not "yes"'),
    (_with("transfer_fees_ppm", [A]), "net.transfer_fees_ppm: expected an object, not a list"),
    (_with("transfer_fees_ppm", {"0x12": 1}), "net.transfer_fees_ppm.0x12: "),
    (_with("transfer_fees_ppm", {A: 1_000_001}), f"net.transfer_fees_ppm.{A}: expected an integer from 0 to"),
    (_with("share_tokens", A), "net.share_tokens: expected a list"),
    (_with("blocked_tokens", ["USDC"]), "net.blocked_tokens[0]: "),
    (_with("sources", {"router": 1}), "net.sources.router: expected a non-empty text, not 1"),
    (_with("chainid", 1), 'net: unknown key "chainid"'),
]


@pytest.mark.parametrize(("break_mapping", "message"), MALFORMED, ids=[message for _, message in MALFORMED])
def test_a_malformed_network_names_the_key_and_what_was_expected(
    break_mapping: Callable[[dict[str, Any]], object], message: str
) -> None:
    mapping = small()
    break_mapping(mapping)
    with pytest.raises(ConfigError) as caught:
        parse_network(mapping, "net")
    assert message in caught.value.message
    assert str(caught.value.details["key"]).startswith("net")


@pytest.mark.parametrize("value", [None, "base", 3, ["a"]])
def test_a_network_that_is_no_mapping_is_refused(value: object) -> None:
    with pytest.raises(ConfigError, match="net: expected an object"):
        parse_network(value, "net")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.sampled_from([A, "0x1", "evm"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6) | st.integers(), inner, max_size=3),
    max_leaves=6,
)


def result_or_error(read: Callable[[], Network]) -> Network | ConfigError:
    """Return the value of `read` or the `ConfigError` that it raises."""
    try:
        return read()
    except ConfigError as error:
        return error


@given(st.sampled_from(NETWORK_KEYS), json_values)
def test_any_value_of_any_key_is_read_or_refused_with_the_key(key: str, value: object) -> None:
    mapping = small() | ({"deployments": []} if key == "protocols" else {})  # which are of the known protocols
    outcome = result_or_error(lambda: parse_network({**mapping, key: value}, "net"))
    assert isinstance(outcome, Network) or str(outcome.details["key"]).startswith(f"net.{key}")


@given(st.sampled_from(ADDED_KEYS), json_values)
def test_any_added_value_is_read_or_refused_with_the_key(key: str, value: object) -> None:
    outcome = result_or_error(lambda: extend_network(find_network("base"), {key: value}, "networks.base"))
    assert isinstance(outcome, Network) or str(outcome.details["key"]).startswith(f"networks.base.{key}")


def test_adding_nothing_changes_nothing() -> None:
    assert extend_network(find_network("base"), {}, "networks.base") == find_network("base")


def test_added_tokens_and_protocols_come_last_or_replace() -> None:
    base = find_network("base")
    weth = base.tokens[0]
    tokens = [{"address": weth.address, "symbol": "wETH", "name": "W", "decimals": 18}, small()["tokens"][1]]
    protocols = [
        {"id": 5, "amm_name": "uniswapV3", "display_name": "Uni"},
        {"id": 900, "amm_name": "x", "display_name": "X"},
    ]
    extended = extend_network(base, {"tokens": tokens, "protocols": protocols, "stablecoins": [B]}, "networks.base")
    assert extended.tokens[0] == Token(weth.address, "wETH", "W", 18)
    assert extended.tokens[-1].symbol == "USD"
    assert len(extended.tokens) == len(base.tokens) + 1
    assert extended.protocol("uniswapV3") == ProtocolInfo(5, "uniswapV3", "Uni")
    assert [protocol.amm_name for protocol in extended.protocols] == [p.amm_name for p in base.protocols] + ["x"]
    assert extended.stablecoins == (*base.stablecoins, B)


def test_added_node_urls_come_first() -> None:
    base = find_network("base")
    extended = extend_network(base, {"rpc_urls": ["http://mine", base.rpc_urls[1]]}, "networks.base")
    assert extended.rpc_urls == ("http://mine", base.rpc_urls[1], base.rpc_urls[0], *base.rpc_urls[2:])


def test_single_values_are_replaced() -> None:
    addresses = {"router": A, "multicall": B, "l1_fee_oracle": C, "explorer": "http://e"}
    changes = addresses | {"gas_price_wei": "7", "block_time_s": 0.5}
    extended = extend_network(find_network("base"), changes, "networks.base")
    assert (extended.router, extended.multicall, extended.l1_fee_oracle) == (A, B, C)
    assert extended.explorer == "http://e"
    assert (extended.gas_price_wei, extended.block_time_s) == (7, 0.5)


def test_a_mistyped_role_or_protocol_gets_the_closest_one() -> None:
    (deployment,) = small()["deployments"]
    for change, hint in (({"addresses": {"factroy": B}}, "factory?"), ({"protocols": ["dxe"]}, "did you mean dex?")):
        with pytest.raises(ConfigError) as caught:
            parse_network({**small(), "deployments": [{**deployment, **change}]}, "net")
        assert str(caught.value.hint).endswith(hint)


def test_an_added_deployment_may_be_of_a_known_protocol() -> None:
    base = find_network("base")
    added = {"protocols": ["uniswapV3"], "name": "Other", "addresses": {"factory": A}}
    extended = extend_network(base, {"deployments": [added]}, "networks.base")
    assert extended.deployments[-1] == Deployment(("uniswapV3",), "Other", {"factory": A})


@pytest.mark.parametrize("key", sorted(set(NETWORK_KEYS) - set(ADDED_KEYS)))
def test_identifying_fields_of_a_network_cannot_be_changed(key: str) -> None:
    with pytest.raises(ConfigError, match="unknown key"):
        extend_network(find_network("base"), {key: None}, "networks.base")


def test_an_added_protocol_cannot_reuse_an_id() -> None:
    protocols = [{"id": 5, "amm_name": "x", "display_name": "X"}]
    with pytest.raises(ConfigError, match=r"networks\.base\.protocols: 5 is listed twice"):
        extend_network(find_network("base"), {"protocols": protocols}, "networks.base")


def test_tokens_are_marked_by_the_way_they_transfer() -> None:
    """Addresses match in any case; a fee of 0 means ordinary transfers and overrides detected behaviour."""
    upper = "0x" + A[2:].upper()
    marks = {"transfer_fees_ppm": {upper: 20_000, B: 0}, "share_tokens": [C]}
    expected = {A: TransferBehaviour.with_fee(20_000), B: ORDINARY, C: SHARES}
    assert parse_network({**small(), **marks}, "net").transfers == expected
    known = parse_network({**small(), "share_tokens": [A, B]}, "net")
    assert extend_network(known, marks, "net").transfers == {**expected}
    assert extend_network(known, {}, "net").transfers == {A: SHARES, B: SHARES}


@pytest.mark.parametrize("name", ["blocked_tokens", "revoke_first_tokens"])
def test_marked_tokens_are_added_to_those_of_the_network(name: str) -> None:
    known = parse_network({**small(), name: ["0x" + A[2:].upper()]}, "net")
    assert getattr(known, name) == {A}
    assert getattr(extend_network(known, {name: [B]}, "net"), name) == {A, B}
