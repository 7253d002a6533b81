"""RouteResult as JSON: round trips, and the published sample."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidInput, NoRoute, SwapcliError
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.network import Network
from swapcli.core.model.order import Order
from swapcli.core.model.quote import Quote, Route, Segment, Swap
from swapcli.core.model.route_result import RouteResult, build_result
from swapcli.core.model.swap_terms import Integrator
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.token import Token
from swapcli.interface import json_types
from swapcli.interface.route import format_decimal, parse_posted_result, parse_result, render, render_no_route
from tests.interface.build import (
    AERO,
    EVM,
    NATIVE,
    STARKNET,
    USDC,
    WRAPPED,
    concentrated,
    constant_product,
    prices,
    results,
)
from tests.interface.conform import conforms

SPEC_ORDER = [
    "success", "routeSwapType", "inputToken", "inputAmount", "outputToken", "outputAmount", "time", "estimatedGasUsed",
    "estimatedGasUsedInUsd", "route", "bestQuotesByProtocols", "initial", "meta",
]  # fmt: skip
V3 = concentrated("0x" + "a" * 40, "uniswapV3", (WRAPPED, USDC), 500)
CLASSIC = constant_product("0x" + "b" * 40, "classic", (WRAPPED, AERO), 3000)
V4 = concentrated("0x" + "d" * 40, "uniswapV4", (AERO, USDC), 100, pool_id="0x" + "c" * 64)
UNHEARD = concentrated("0x" + "e" * 39 + "1", "unheardOf", (AERO, USDC), 100)
POOLS = {pool.key: pool for pool in (V3, CLASSIC, V4, UNHEARD)}
ROUTE = Route(
    (
        Segment(6_500, ((Swap(V3.key, WRAPPED.address, USDC.address, 10_000),),)),
        Segment(
            3_500,
            (
                (Swap(CLASSIC.key, WRAPPED.address, AERO.address, 10_000),),
                (Swap(V4.key, AERO.address, USDC.address, 6_120), Swap(UNHEARD.key, AERO.address, USDC.address, 3_880)),
            ),
        ),
    )
)
INTEGRATOR = Integrator("0x" + "9" * 40, fee_bps=30, name="acme")


def quote_of(order: Order, *, price_in_usd: float | None = 3500.25) -> Quote:
    return Quote(
        order=order, route=ROUTE, steps=(), amount_in=order.amount, amount_out=87_089_112_623, gas_units=412_300,
        gas_price_wei=5_000_000, wei_usd=3.5e-15, price_in_usd=price_in_usd, price_out_usd=1.0, price_impact=0.0021,
        best_single_path_out=None, time_s=0.0042,
    )  # fmt: skip


def answer(
    api_version: ApiVersion = ApiVersion.V2,
    token_in: Token = NATIVE,
    token_out: Token = USDC,
    integrator: Integrator | None = None,
) -> RouteResult:
    order = Order(token_in, token_out, 25 * 10**18)
    return build_result(
        quote_of(order), order, EVM, POOLS, api_version, timestamp_ms=1_769_291_200_000, integrator=integrator
    )


def document(api_version: ApiVersion = ApiVersion.V2, **answer_of: Any) -> dict[str, Any]:
    return json.loads(json.dumps(render(answer(api_version, **answer_of), EVM)))  # type: ignore[no-any-return]


@given(st.data(), st.sampled_from([(EVM, ApiVersion.V1), (EVM, ApiVersion.V2), (STARKNET, ApiVersion.V1)]))
def test_parsing_undoes_rendering(data: st.DataObject, at: tuple[Network, ApiVersion]) -> None:
    network, api_version = at
    result = data.draw(results(network, api_version))
    wire = json.dumps(render(result, network), allow_nan=False)
    assert parse_result(json.loads(wire), network) == result


def test_the_route_read_back_is_the_route_that_was_quoted() -> None:
    assert parse_result(document(), EVM).route == ROUTE


def test_fields_stand_in_the_order_of_the_specification() -> None:
    assert list(document()) == SPEC_ORDER
    assert list(document(ApiVersion.V1)) == SPEC_ORDER[:-1]


def test_v2_has_the_wrapped_token_and_a_swap_type() -> None:
    wire = document()
    assert wire["routeSwapType"] == 0
    assert wire["inputToken"] == {
        "name": "Wrapped Ether", "address": "0x4200000000000000000000000000000000000006", "decimals": 18,
        "price": 3500.25, "symbol": "WETH",
    }  # fmt: skip
    assert wire["meta"] == {"apiVersion": "2.0", "timestamp": "2026-01-24T21:46:40.000Z"}


def test_v1_writes_the_native_token_by_its_zero_address() -> None:
    wire = document(ApiVersion.V1)
    assert wire["routeSwapType"] == 0
    assert wire["inputToken"]["address"] == "0x" + "0" * 40
    assert parse_result(wire, EVM).swap_type is SwapType.NATIVE_TO_TOKEN


@pytest.mark.parametrize(
    ("token_in", "token_out", "swap_type"),
    [(NATIVE, USDC, 0), (USDC, NATIVE, 1), (WRAPPED, USDC, 2), (WRAPPED, NATIVE, 1)],
)
def test_swap_types_follow_the_native_token(token_in: Token, token_out: Token, swap_type: int) -> None:
    assert document(token_in=token_in, token_out=token_out)["routeSwapType"] == swap_type


def test_gas_is_wei_in_v2_and_units_in_v1() -> None:
    assert document()["estimatedGasUsed"] == str(412_300 * 5_000_000)
    assert document(ApiVersion.V1)["estimatedGasUsed"] == "412300"


def test_addresses_are_checksummed() -> None:
    assert document()["outputToken"]["address"] == "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"


def test_a_pool_is_written_with_its_share_protocol_and_traits() -> None:
    first, second = document()["route"]
    assert first["percent"] == "65%"
    assert first["swaps"][0][0]["percent"] == "100.00%"
    assert first["swaps"][0][0]["extraData"] == {"fee": 500}
    assert second["swaps"][0][0]["extraData"] is None
    v4, unheard = second["swaps"][1]
    assert (v4["protocol"], v4["poolName"], v4["percent"]) == (25, "Uniswap V4", "61.20%")
    assert list(v4["extraData"]) == ["poolId", "token0", "token1", "fee", "tickSpacing", "hooks"]
    assert unheard["extraData"] == {"fee": 100, "tickSpacing": 10}


def test_integrator_fields_occur_only_with_a_fee() -> None:
    wire = document(integrator=INTEGRATOR)
    assert wire["outputAmountAfterFee"] == str(87_089_112_623 - 87_089_112_623 * 30 // 10_000)
    assert wire["integratorFeePercentageBps"] == 30
    assert wire["integratorName"] == "acme"
    assert "integratorSurplusPercentageBps" not in wire
    assert "outputAmountAfterFee" not in document(integrator=Integrator("0x" + "9" * 40, surplus_bps=9))
    assert "integratorAddress" not in document(ApiVersion.V1, integrator=INTEGRATOR)


def test_an_unknown_price_is_what_the_caller_wants_it_to_be() -> None:
    order = Order(NATIVE, USDC, 1)
    result = build_result(quote_of(order, price_in_usd=None), order, EVM, POOLS, ApiVersion.V2, timestamp_ms=0)
    price_on_the_wire = json.loads(json.dumps(render(result, EVM)))["inputToken"]["price"]
    price_for_people = json.loads(json.dumps(render(result, EVM, unknown_price=None)))["inputToken"]["price"]
    assert (price_on_the_wire, price_for_people) == (0, None)


def test_starknet_writes_prices_as_strings() -> None:
    order = Order(USDC, AERO, 10**18)
    result = build_result(quote_of(order), order, EVM, POOLS, ApiVersion.V1, timestamp_ms=0)
    assert json.loads(json.dumps(render(result, STARKNET)))["inputToken"]["price"] == "3500.25"


@given(prices.filter(bool))
def test_a_plain_decimal_has_no_exponent_and_no_loss(price: float) -> None:
    text = format_decimal(price)
    assert "e" not in text
    assert float(text) == price


def test_a_failed_route_is_an_error() -> None:
    with pytest.raises(NoRoute, match="nothing there"):
        parse_result(render_no_route("nothing there"), EVM)


def put(path: list[str | int], value: object) -> Callable[[dict[str, Any]], None]:
    def change(wire: Any) -> None:
        for key in path[:-1]:
            wire = wire[key]
        wire[path[-1]] = value

    return change


HOP: list[str | int] = ["route", 1, "swaps", 1]
SWAP: list[str | int] = [*HOP, 0]


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (put(["inputAmount"], "0"), "inputAmount"),
        (put(["inputAmount"], str(2**256)), "inputAmount"),
        (put(["inputAmount"], "-1"), "inputAmount"),
        (put(["inputAmount"], 5), "inputAmount"),
        (put(["outputAmount"], "1.5"), "outputAmount"),
        (put(["outputAmount"], "٣"), "outputAmount"),
        (put(["time"], -1), "time"),
        (put(["time"], True), "time"),
        (put(["time"], float("nan")), "time"),
        (put(["success"], "yes"), "success"),
        (put(["routeSwapType"], 3), "routeSwapType"),
        (put(["routeSwapType"], True), "routeSwapType"),
        (put(["inputToken"], []), "inputToken"),
        (put(["inputToken", "decimals"], "18"), "inputToken.decimals"),
        (put(["meta", "timestamp"], "yesterday"), "meta.timestamp"),
        (put(["meta", "timestamp"], "2026-13-24T21:46:40.000Z"), "meta.timestamp"),
        (put(["route"], []), "route"),
        (put(["route"], {}), "route"),
        (put(["route", 0, "percent"], "64%"), "route"),
        (put(["route", 0, "percent"], "0%"), "route[0].percent"),
        (put(["route", 0, "percent"], "65.5%"), "route"),
        (put(["route", 0, "percent"], "65.005%"), "route[0].percent"),
        (put(["route", 0, "percent"], 65), "route[0].percent"),
        (put(["route", 0, "swaps"], []), "route[0].swaps"),
        (put([*HOP], []), "route[1].swaps[1]"),
        (put([*SWAP, "percent"], "61.2"), "route[1].swaps[1][0].percent"),
        (put([*SWAP, "percent"], "61.19%"), "route[1].swaps[1]"),
        (put([*SWAP, "percent"], "161.20%"), "route[1].swaps[1][0].percent"),
        (put([*SWAP, "protocol"], "25"), "route[1].swaps[1][0].protocol"),
        (put([*SWAP, "extraData"], [1]), "route[1].swaps[1][0].extraData"),
        (put([*SWAP, "extraData", "fee"], 1.5), "route[1].swaps[1][0].extraData.fee"),
        (put([*SWAP, "toTokenAddress"], WRAPPED.address), "route[1].swaps[1]"),
        (put(["route", 1, "swaps", 0, 0, "toTokenAddress"], USDC.address), "route[1].swaps[1]"),
        (put(["route", 0, "swaps", 0, 0, "toTokenAddress"], AERO.address), "route"),
        (put(["integratorFeePercentageBps"], 501), "integratorFeePercentageBps"),
    ],
)  # fmt: skip
def test_a_malformed_field_is_named(change: Callable[[dict[str, Any]], None], where: str) -> None:
    wire = document(integrator=INTEGRATOR)
    change(wire)
    with pytest.raises(InvalidInput) as caught:
        parse_result(wire, EVM)
    assert caught.value.details["field"] == where


@pytest.mark.parametrize(("share", "text"), [(6_500, "65%"), (6_501, "65.01%"), (6_550, "65.50%"), (7, "0.07%")])
def test_a_segment_shows_decimals_only_if_not_whole(share: int, text: str) -> None:
    first, second = answer().segments
    fine = answer()._replace(segments=(first._replace(share=share), second._replace(share=10_000 - share)))
    wire = json.loads(json.dumps(render(fine, EVM)))
    assert wire["route"][0]["percent"] == text
    assert parse_result(wire, EVM) == fine


def test_percentages_without_decimals_are_read_too() -> None:
    wire = document()
    wire["route"][0]["swaps"][0][0]["percent"] = "100%"
    assert parse_result(wire, EVM) == answer()


def containers(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [value, *(c for inner in value.values() for c in containers(inner))]
    return [value, *(c for inner in value for c in containers(inner))] if isinstance(value, list) else []


json_values: st.SearchStrategy[object] = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just([]) | st.just({})
)


@given(st.data())
def test_nothing_that_arrives_breaks_the_parser(data: st.DataObject) -> None:
    """Replacing any field by any value gives a result or an expected error."""
    wire = deepcopy(document(integrator=INTEGRATOR))
    for _ in range(data.draw(st.integers(1, 3))):
        container = data.draw(st.sampled_from([c for c in containers(wire) if c] or [{"": None}]))
        key = data.draw(st.sampled_from(sorted(container) if isinstance(container, dict) else range(len(container))))
        container[key] = data.draw(json_values)
    result = None
    with suppress(SwapcliError):
        result = parse_result(wire, EVM)
    assert result is None or parse_result(render(result, EVM), EVM) == result


LONG = "x" * 401


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (put(["inputToken", "name"], LONG), "inputToken.name"),
        (put(["inputToken", "name"], "\ud800"), "inputToken.name"),
        (put(["inputToken", "symbol"], "a\udfff"), "inputToken.symbol"),
        (put(["inputToken", "address"], "0x" + "f" * 10**6), "inputToken.address"),
        (put(["inputToken", "address"], "0x12"), "inputToken.address"),
        (put(["inputToken", "price"], "9" * 500), "inputToken.price"),
        (put(["inputToken", "price"], 10**400), "inputToken.price"),
        (put(["inputToken", "decimals"], 10**400), "inputToken.decimals"),
        (put(["inputAmount"], "9" * 10**6), "inputAmount"),
        (put(["estimatedGasUsed"], "1" * 79), "estimatedGasUsed"),
        (put(["estimatedGasUsedInUsd"], "1e999"), "estimatedGasUsedInUsd"),
        (put(["outputAmountAfterFee"], "-1"), "outputAmountAfterFee"),
        (put(["routeSwapType"], 10**400), "routeSwapType"),
        (put(["meta", "timestamp"], "2026-01-24T21:46:40.000Z" * 10**4), "meta.timestamp"),
        (put(["meta", "timestamp"], "٢026-01-24T21:46:40.000Z"), "meta.timestamp"),
        (put(["integratorName"], LONG), "integratorName"),
        (put([*SWAP, "poolName"], "\ud800"), "route[1].swaps[1][0].poolName"),
        (put([*SWAP, "poolAddress"], 5), "route[1].swaps[1][0].poolAddress"),
        (put([*SWAP, "protocol"], 2**23), "route[1].swaps[1][0].protocol"),
        (put([*SWAP, "percent"], "1" * 10**6), "route[1].swaps[1][0].percent"),
        (put([*SWAP, "extraData"], {str(n): n for n in range(17)}), "route[1].swaps[1][0].extraData"),
        (put([*SWAP, "extraData"], {LONG: 1}), "route[1].swaps[1][0].extraData"),
        (put([*SWAP, "extraData"], {"\ud800": 1}), "route[1].swaps[1][0].extraData"),
        (put([*SWAP, "extraData", "fee"], 2**256), "route[1].swaps[1][0].extraData.fee"),
        (put([*SWAP, "extraData", "fee"], -(10**400)), "route[1].swaps[1][0].extraData.fee"),
        (put([*SWAP, "extraData", "fee"], LONG), "route[1].swaps[1][0].extraData.fee"),
        (lambda wire: wire["route"].extend([wire["route"][0]] * 100), "route"),
        (lambda wire: wire["route"][1].update(swaps=[wire["route"][0]["swaps"][0]] * 17), "route[1].swaps"),
        (lambda wire: wire["route"][1]["swaps"][1].extend([None] * 64), "route[1].swaps[1]"),
    ],
)  # fmt: skip
def test_a_hostile_field_is_refused_by_name(change: Callable[[dict[str, Any]], None], where: str) -> None:
    wire = document(integrator=INTEGRATOR)
    change(wire)
    with pytest.raises(InvalidInput) as caught:
        parse_result(wire, EVM)
    assert caught.value.details["field"] == where
    assert len(caught.value.message) < 300
    assert json.dumps(caught.value.details, ensure_ascii=False).encode()


def without(*names: str) -> Callable[[dict[str, Any]], None]:
    def change(wire: dict[str, Any]) -> None:
        for name in names:
            del wire[name]

    return change


UNREAD = ("time", "estimatedGasUsed", "estimatedGasUsedInUsd")


@pytest.mark.parametrize(
    "change",
    [
        *[put([name], None) for name in (*UNREAD, "success", "initial", "bestQuotesByProtocols")],
        *[without(name) for name in (*UNREAD, "success", "initial", "bestQuotesByProtocols")],
        without(*UNREAD),
        put(["outputAmountAfterFee"], None),
        put(["integratorAddress"], None),
        put(["integratorFeePercentageBps"], None),
        put(["integratorName"], None),
        put(["inputToken", "symbol"], None),
        put(["inputToken", "price"], None),
        put(["inputToken", "decimals"], 18.0),
        put(["inputToken", "price"], 3500.0),
        put([*SWAP, "protocol"], 25.0),
        put([*SWAP, "extraData", "fee"], 100.0),
        put(["time"], 1.0),
        put(["estimatedGasUsedInUsd"], "0.0"),
        put(["meta", "apiVersion"], None),
        put(["meta", "timestamp"], "2026-01-24T21:46:40+00:00"),
        put(["meta", "timestamp"], "2026-01-24t21:46:40.000000000z"),
        put(["state"], None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("api_version", ApiVersion)
def test_what_decides_nothing_may_be_missing_or_differ(
    api_version: ApiVersion, change: Callable[[dict[str, Any]], None]
) -> None:
    wire = document(api_version)
    if api_version is ApiVersion.V1:
        wire["meta"] = {}
    change(wire)
    if api_version is ApiVersion.V1:
        wire["meta"] = None
    read = parse_result(wire, EVM)
    nothing: dict[str, Any] = {"time_s": 0.0, "gas_units": None, "gas_cost_wei": None, "gas_usd": None}
    unpriced = Token(NATIVE.address, "", "", 0)

    def decisive(result: RouteResult) -> RouteResult:
        return result._replace(**nothing, input_token=unpriced)

    assert decisive(read) == decisive(answer(api_version))


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (put(["routeSwapType"], 2.0), "routeSwapType"),
        (put(["integratorFeePercentageBps"], 30.0), "integratorFeePercentageBps"),
        (put(["inputToken", "decimals"], 18.5), "inputToken.decimals"),
        (put(["inputToken", "decimals"], "18"), "inputToken.decimals"),
        (put([*SWAP, "protocol"], 25.5), "route[1].swaps[1][0].protocol"),
    ],
)
def test_what_decides_something_is_an_integer(change: Callable[[dict[str, Any]], None], where: str) -> None:
    wire = document(integrator=INTEGRATOR)
    change(wire)
    with pytest.raises(InvalidInput) as caught:
        parse_result(wire, EVM)
    assert caught.value.details["field"] == where


@pytest.mark.parametrize("version", ["1.0", "2.1", "2", "", 2.0, 2, [], {}, False])
def test_a_route_of_another_version_is_not_taken_back(version: object) -> None:
    wire = document(ApiVersion.V2)
    wire["meta"]["apiVersion"] = version
    with pytest.raises(InvalidInput, match=r'^route\.meta\.apiVersion must be "2\.0"$') as caught:
        parse_posted_result(wire, EVM, "route")
    assert caught.value.details["field"] == "route.meta.apiVersion"


@pytest.mark.parametrize("change", [put(["meta", "apiVersion"], None), lambda wire: wire["meta"].pop("apiVersion")])
def test_a_route_without_its_version_is_taken_back(change: Callable[[dict[str, Any]], None]) -> None:
    wire = document(ApiVersion.V2)
    change(wire)
    assert parse_posted_result(wire, EVM) == answer(ApiVersion.V2)
    assert parse_posted_result(document(ApiVersion.V1), EVM) == answer(ApiVersion.V1)


def test_the_type_of_a_v1_route_decides_nothing() -> None:
    assert parse_result(document(ApiVersion.V1) | {"routeSwapType": 0.0}, EVM) == answer(ApiVersion.V1)


@pytest.mark.parametrize("meta", [None, ...])
def test_nobody_earns_on_a_v1_route(meta: object) -> None:
    wire = document(integrator=INTEGRATOR) | {"meta": meta}
    if meta is ...:
        del wire["meta"]
    assert parse_result(wire, EVM).api_version is ApiVersion.V1
    assert parse_result(wire, EVM).integrator is None


def test_the_path_of_a_route_inside_a_body_is_named() -> None:
    wire = document() | {"outputAmount": None}
    with pytest.raises(InvalidInput, match=r"route\.outputAmount is missing"):
        parse_result(wire, EVM, path="route")


@pytest.mark.parametrize("api_version", ApiVersion)
def test_quotes_of_protocols_are_decimal_strings(api_version: ApiVersion) -> None:
    wire = render(answer(api_version)._replace(best_quotes=(0, 10**20)), EVM)
    assert wire["bestQuotesByProtocols"] == ["0", "100000000000000000000"]
    assert parse_result(wire, EVM).best_quotes == (0, 10**20)


@pytest.mark.parametrize("quotes", [None, [], {}, [{"protocol": 1}], ["-1"], [5], ["1"] * 1001, ["9" * 79]])
def test_quotes_of_another_form_tell_nothing(quotes: object) -> None:
    assert parse_result(document() | {"bestQuotesByProtocols": quotes}, EVM) == answer()


@pytest.mark.parametrize("address", ["0x" + "e" * 40, "0x" + "eE" * 20])
def test_either_placeholder_in_v1_is_the_native_token(address: str) -> None:
    wire = document(ApiVersion.V1)
    wire["inputToken"]["address"] = address
    assert parse_result(wire, EVM) == answer(ApiVersion.V1)


@pytest.mark.parametrize("api_version", ApiVersion)
def test_a_result_has_the_stated_form(api_version: ApiVersion) -> None:
    form = json_types.RouteV2Json if api_version is ApiVersion.V2 else json_types.RouteV1Json
    wire = document(api_version, integrator=INTEGRATOR)
    assert conforms(wire, form)
    assert conforms(wire, json_types.PostedRouteJson)
    assert conforms(render_no_route("x"), json_types.RouteNotFoundJson)


def test_a_reason_for_no_route_is_one_bounded_line() -> None:
    with pytest.raises(NoRoute) as caught:
        parse_result({"success": False, "errorMessage": "a\x1b[2J\n" + LONG}, EVM)
    assert caught.value.message.isprintable()
    assert len(caught.value.message) == 300


PUBLISHED: dict[str, Any] = {
    "success": True,
    "inputToken": {
        "name": "Wrapped Ether", "address": "0x4200000000000000000000000000000000000006", "decimals": 18, "price": 0.0,
    },
    "inputAmount": "1500000000000000000",
    "outputToken": {
        "name": "USD Coin", "address": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "decimals": 6, "price": 0.0,
    },
    "outputAmount": "4303439184",
    "estimatedGasUsed": "347407383168",
    "estimatedGasUsedInUsd": 0.0031034457390210508,
    "route": [
        {
            "percent": "100%",
            "swaps": [
                [
                    {
                        "protocol": 9,
                        "poolName": "PancakeSwap V3",
                        "poolAddress": "0x72ab388e2e2f6facef59e3c3fa2c4e29011c2d38",
                        "fromTokenAddress": "0x4200000000000000000000000000000000000006",
                        "toTokenAddress": "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
                        "percent": "100%",
                        "extraData": {"fee": 100},
                    }
                ]
            ],
        }
    ],
    "time": 0.858,
    "bestQuotesByProtocols": [],
    "initial": True,
    "routeSwapType": 2,
}  # fmt: skip
"""The published sample, with an amount in place of its dots."""


def test_the_published_sample_is_read() -> None:
    assert conforms(PUBLISHED, json_types.RouteV1Json)
    result = parse_result(PUBLISHED, EVM)
    assert (result.api_version, result.swap_type) == (ApiVersion.V1, SwapType.TOKEN_TO_TOKEN)
    assert (result.input_amount, result.output_amount, result.gas_units) == (
        15 * 10**17,
        4_303_439_184,
        347_407_383_168,
    )
    ((swap,),) = result.segments[0].hops
    assert (swap.protocol_id, swap.share, dict(swap.extra)) == (9, 10_000, {"fee": 100})


def test_the_published_sample_is_written_with_the_same_fields() -> None:
    written = json.loads(json.dumps(render(parse_result(PUBLISHED, EVM), EVM)))
    assert written.keys() == PUBLISHED.keys()
    assert written["inputToken"].keys() == PUBLISHED["inputToken"].keys() | {"symbol"}
    (mine,), (theirs,) = written["route"][0]["swaps"][0], PUBLISHED["route"][0]["swaps"][0]
    assert list(mine) == list(theirs)
    assert mine | {"percent": "100%"} == theirs | {key: mine[key] for key in mine if key.endswith("Address")}
