"""Requests: round trips, all spellings that clients use, and errors with the name of the field."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.encoding.strict_json import parse_json
from swapcli.core.errors import (
    IntegratorError,
    InvalidAddress,
    InvalidAmount,
    InvalidDeadline,
    InvalidInput,
    InvalidOption,
    InvalidRoute,
    InvalidSlippage,
    SameToken,
    SwapcliError,
)
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.network import Network
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.quote_request import SharePrecision
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.networks.address import display_address
from swapcli.interface import json_types
from swapcli.interface.requests import (
    CALLDATA_V1,
    CALLDATA_V2,
    EXECUTE_V1,
    PAYLOAD_HYPEREVM,
    PAYLOAD_V1,
    PAYLOAD_V2,
    ROUTE_V1,
    ROUTE_V2,
    BodyParameters,
    OrderParameters,
    OrderRequest,
    PostedRoute,
    parse_calldata_body,
    parse_execute_body,
    parse_order,
    parse_signer_body,
)
from swapcli.interface.route import render, render_no_route, render_result
from swapcli.interface.sent_requests import render_calldata_body, render_execute_body, render_order
from swapcli.interface.slippage import format_percent
from tests.interface.build import (
    CITREA,
    EVM,
    EVM_NETWORKS,
    HYPEREVM,
    MONAD,
    NETWORKS,
    RESULT,
    STARKNET,
    USDC,
    WRAPPED,
    accounts,
    addresses,
    amounts,
    results,
)
from tests.interface.conform import conforms

NOW_S = 1_769_291_200
RECIPIENT = "0x" + "ab" * 20
SWAP_TERMS = SwapTerms(5_000, RECIPIENT)
EEE = "0x" + "eE" * 20
BASIC = [("amount", "1000"), ("tokenInAddress", WRAPPED.address), ("tokenOutAddress", USDC.address)]
TERMS = [*BASIC, ("slippage", "0.5"), ("destination", RECIPIENT)]
ORDER = OrderRequest(1000, WRAPPED.address, USDC.address)
FORMS = (ROUTE_V1, ROUTE_V2, PAYLOAD_V1, PAYLOAD_V2, PAYLOAD_HYPEREVM)


def replaced(query: list[tuple[str, str]], name: str, *values: str) -> list[tuple[str, str]]:
    return [pair for pair in query if pair[0] != name] + [(name, value) for value in values]


def slippages(least_ppm: int, most_ppm: int) -> st.SearchStrategy[int]:
    return st.integers(least_ppm, most_ppm) | st.sampled_from([least_ppm, most_ppm])


@st.composite
def orders(draw: st.DrawFn, network: Network, form: OrderParameters) -> OrderRequest:
    """Any order that the parameters can express."""
    kind, v2 = network.kind, form.api_version is ApiVersion.V2
    some_addresses = addresses(kind)
    tokens = some_addresses if network is STARKNET else some_addresses | st.just(ZERO_ADDRESS)
    token_in, token_out = draw(st.lists(tokens, min_size=2, max_size=2, unique=True))
    order = OrderRequest(
        amount=draw(amounts),
        token_in=token_in,
        token_out=token_out,
        reverse=network is HYPEREVM and not v2 and draw(st.booleans()),
        values=draw(st.sampled_from([(), (("direct", True),), (("shares", SharePrecision.FINE),)])),
        excluded=tuple(draw(st.lists(st.text("abcV390", min_size=1, max_size=9), max_size=4))),
    )
    if form.slippage:
        ppm = draw(slippages(form.slippage.min_ppm, form.slippage.max_ppm))
        recipients = accounts(kind) if form.needs_terms else st.none() | accounts(kind)
        order = order._replace(slippage_ppm=ppm, recipient=draw(recipients))
    return order._replace(**draw(integrators(kind))) if v2 else order


def integrators(kind: Any) -> st.SearchStrategy[dict[str, Any]]:
    """The integrator fields of an order: any address with a fee, a surplus share, or neither."""
    address = st.none() | accounts(kind)
    fee, surplus, nothing = st.integers(0, 500), st.integers(0, 5000), st.just(0)
    return st.one_of(
        st.fixed_dictionaries({"integrator_address": address, "fee_bps": fee, "surplus_bps": nothing}),
        st.fixed_dictionaries({"integrator_address": address, "fee_bps": nothing, "surplus_bps": surplus}),
    )


@given(st.data(), st.sampled_from(NETWORKS), st.sampled_from(FORMS))
def test_an_order_in_a_query_is_read_as_it_was_written(
    data: st.DataObject, network: Network, form: OrderParameters
) -> None:
    order = data.draw(orders(network, form))
    assert parse_order(render_order(order, network, form), network, form) == order


@given(st.data(), st.sampled_from(NETWORKS))
def test_an_order_in_a_body_is_read_as_it_was_written(data: st.DataObject, network: Network) -> None:
    order = data.draw(orders(network, PAYLOAD_V1))._replace(reverse=False)
    document = render_calldata_body(order, network)
    assert conforms(document, json_types.CalldataRequestJson)
    assert parse_calldata_body(parse_json(json.dumps(document).encode()), network, NOW_S) == order


@given(st.data(), st.sampled_from(EVM_NETWORKS), st.sampled_from(ApiVersion))
def test_a_found_route_is_read_as_it_was_written(
    data: st.DataObject, network: Network, api_version: ApiVersion
) -> None:
    form = data.draw(st.sampled_from([EXECUTE_V1, CALLDATA_V1, CALLDATA_V2]))
    ahead_s = data.draw(st.integers(1, 10**9)) if form.has_deadline else None
    result = data.draw(results(network, api_version))
    terms = SwapTerms(
        slippage_ppm=data.draw(slippages(form.slippage.min_ppm, form.slippage.max_ppm)),
        recipient=data.draw(accounts(network.kind)),
        deadline_s=ahead_s and NOW_S + ahead_s,
    )
    document = render_execute_body(result, terms, network)
    assert conforms(document, json_types.ExecuteRequestJson)
    read = parse_json(json.dumps(document).encode())
    assert parse_execute_body(read, network, form, NOW_S) == PostedRoute(result, terms)
    if form is CALLDATA_V1:
        assert parse_calldata_body(read, network, NOW_S) == PostedRoute(result, terms)


@given(results(CITREA, ApiVersion.V1), slippages(1_000, 490_000), addresses(CITREA.kind))
def test_a_route_with_its_signer_is_read_as_it_was_written(result: Any, slippage_ppm: int, signer: str) -> None:
    document = {
        "route_response": render_result(result, CITREA),
        "slippage": float(format_percent(slippage_ppm)),
        "signer": display_address(signer, CITREA.kind),
    }
    assert conforms(document, json_types.SignerRequestJson)
    body = parse_signer_body(parse_json(json.dumps(document).encode()), CITREA)
    assert body == PostedRoute(result, SwapTerms(slippage_ppm, signer))


def test_a_route_is_sent_as_it_was_received() -> None:
    document: Any = {"whatever": "the service said"}
    assert render_execute_body(RESULT, SWAP_TERMS, EVM, document)["route"] == document


@pytest.mark.parametrize("form", [ROUTE_V1, ROUTE_V2])
def test_terms_of_a_route_may_be_missing(form: OrderParameters) -> None:
    assert parse_order(BASIC, EVM, form) == ORDER


def test_what_is_not_known_is_ignored() -> None:
    query = [*BASIC, ("utm", "x"), ("utm", "y"), ("slippage[x]", "0.7"), ("integratorFeePercentageBps", "rubbish")]
    assert parse_order(query, EVM, ROUTE_V1) == ORDER


@pytest.mark.parametrize("native", [ZERO_ADDRESS, EEE, EEE.lower(), "0X" + "E" * 40])
def test_both_placeholders_are_the_native_token(native: str) -> None:
    assert parse_order(replaced(BASIC, "tokenInAddress", native), EVM, ROUTE_V1).token_in == ZERO_ADDRESS


@pytest.mark.parametrize(
    "given_as",
    [
        [("excludeProtocols", "1,2")],
        [("excludeProtocols", " 1 , 2,")],
        [("excludeProtocols", "1"), ("excludeProtocols", "2")],
        [("excludeProtocols[]", "1"), ("excludeProtocols[]", "2")],
        [("excludeProtocols[0]", "1"), ("excludeProtocols[1]", "2")],
        [("excludeProtocols", "[1,2]")],
        [("excludeProtocols", '["1", "2"]')],
    ],
)
def test_protocols_may_be_excluded_in_any_form_of_an_array(given_as: list[tuple[str, str]]) -> None:
    assert parse_order([*BASIC, *given_as], EVM, ROUTE_V1).excluded == ("1", "2")


@pytest.mark.parametrize("excluded", [["1", "2"], [1, 2], "1,2", ["1,2"]])
def test_a_body_excludes_by_an_array_or_a_list(excluded: object) -> None:
    document = {**render_calldata_body(ORDER._replace(recipient=RECIPIENT), EVM), "excludeProtocols": excluded}
    order = parse_calldata_body(document, EVM, NOW_S)
    assert isinstance(order, OrderRequest)
    assert order.excluded == ("1", "2")


@pytest.mark.parametrize("excluded", ["", "[]", ",", "[1", '[{"a":1}]'])
def test_an_odd_list_never_breaks(excluded: str) -> None:
    read = parse_order([*BASIC, ("excludeProtocols", excluded)], EVM, ROUTE_V1).excluded
    assert read == (() if excluded in ("", "[]", ",") else (excluded,))


@pytest.mark.parametrize(
    ("word", "direct"), [("true", True), ("TRUE", True), ("1", True), ("false", False), ("False", False), ("0", False)]
)
def test_booleans_are_words_or_digits_in_any_letter_case(word: str, direct: bool) -> None:
    assert parse_order([*BASIC, ("direct", word)], EVM, ROUTE_V2).values == ((("direct", True),) if direct else ())


@pytest.mark.parametrize("name", ["amount", "tokenInAddress", "tokenOutAddress", "direct", "slippage", "destination"])
def test_a_parameter_given_twice_is_refused(name: str) -> None:
    query = [*TERMS, ("direct", "true")]
    twice = [*query, next(pair for pair in query if pair[0] == name)]
    with pytest.raises(InvalidInput) as caught:
        parse_order(twice, EVM, PAYLOAD_V1)
    assert caught.value.details["field"] == name


AMOUNT_FORM = "amount must be a decimal integer string from 1 to 2^256 - 1"
SLIPPAGE_FORM = "slippage must be a number conforming to the specified constraints"


@pytest.mark.parametrize(
    ("name", "values", "error", "message"),
    [
        ("amount", [], InvalidAmount, "amount should not be null or undefined"),
        *[
            ("amount", [text], InvalidAmount, AMOUNT_FORM)
            for text in ("", "0", "-1", "+1", "1.0", "1e5", "0x10", " 1", "1 ", "٣", "1_0", str(2**256), "9" * 9999)
        ],
        ("tokenInAddress", [], InvalidAddress, "tokenInAddress must be an Ethereum address"),
        ("tokenInAddress", ["0x12"], InvalidAddress, "tokenInAddress must be an Ethereum address"),
        ("tokenOutAddress", [""], InvalidAddress, "tokenOutAddress must be an Ethereum address"),
        (
            "tokenOutAddress", ["0x833589FCD6eDb6E08f4c7C32D4f71b54bdA02913"], InvalidAddress,
            "tokenOutAddress must be an Ethereum address, but its checksum is wrong",
        ),
        ("tokenOutAddress", [WRAPPED.address], SameToken, "Token in and token out cannot be the same"),
        ("slippage", [], InvalidSlippage, SLIPPAGE_FORM),
        *[("slippage", [text], InvalidSlippage, SLIPPAGE_FORM)
          for text in ("", "NaN", "inf", "-1", "1e1", "0,5", "5%", "0x1")],
        ("slippage", ["0.0999"], InvalidSlippage, "slippage must be between 0.1 and 100 percent, not 0.0999"),
        ("slippage", ["100.0001"], InvalidSlippage, "slippage must be between 0.1 and 100 percent, not 100.0001"),
        ("destination", [], InvalidAddress, "destination must be an Ethereum address"),
        ("destination", ["me"], InvalidAddress, "destination must be an Ethereum address"),
        ("destination", [ZERO_ADDRESS], InvalidAddress, "destination must be an Ethereum address that can hold tokens"),
        ("destination", [EEE.lower()], InvalidAddress, "destination must be an Ethereum address that can hold tokens"),
        ("direct", ["yes"], InvalidOption, "direct must be true or false"),
        ("direct", [""], InvalidOption, "direct must be true or false"),
        ("reverse", ["true"], InvalidOption, "reverse is not supported on base"),
        ("excludeProtocols", ["x" * 81], InvalidInput, "excludeProtocols has too many or too long entries"),
        ("excludeProtocols", ["1"] * 257, InvalidInput, "excludeProtocols has too many or too long entries"),
        ("excludeProtocols", ["[1.5]"], InvalidInput, "each entry of excludeProtocols must be a string"),
    ],
    ids=lambda value: repr(value)[:40],
)  # fmt: skip
def test_a_bad_parameter_is_refused_by_name(
    name: str, values: list[str], error: type[InvalidInput], message: str
) -> None:
    with pytest.raises(error) as caught:
        parse_order(replaced(TERMS, name, *values), EVM, PAYLOAD_V1)
    assert type(caught.value) is error
    assert caught.value.message == message
    assert caught.value.details["field"] == name


@pytest.mark.parametrize(
    ("form", "low", "high"),
    [(ROUTE_V1, "0.1", "100"), (PAYLOAD_V1, "0.1", "100"), (PAYLOAD_V2, "0", "49"), (PAYLOAD_HYPEREVM, "0.1", "49")],
)
def test_each_endpoint_has_its_own_range_of_slippage(form: OrderParameters, low: str, high: str) -> None:
    def read(text: str) -> int:
        return parse_order(replaced(TERMS, "slippage", text), EVM, form).slippage_ppm

    assert (read(low), read(high)) == (round(float(low) * 10_000), int(high) * 10_000)
    for beyond in (f"{high}.0001", str(round(float(low) - 0.0001, 4))):
        with pytest.raises(InvalidSlippage):
            read(beyond)


@pytest.mark.parametrize(
    ("form", "low", "high"), [(EXECUTE_V1, 0.1, 100), (CALLDATA_V1, 0.1, 100), (CALLDATA_V2, 0, 49)]
)
def test_bodies_have_the_same_ranges(form: BodyParameters, low: float, high: float) -> None:
    document: dict[str, Any] = {**render_execute_body(RESULT, SWAP_TERMS, EVM)}

    def read(slippage: object) -> int:
        return parse_execute_body({**document, "slippage": slippage}, EVM, form, NOW_S).terms.slippage_ppm

    assert (read(low), read(str(high))) == (round(low * 10_000), high * 10_000)
    for beyond in (high + 0.0001, f"{high}.0001", round(low - 0.0001, 4)):
        with pytest.raises(InvalidSlippage):
            read(beyond)


@pytest.mark.parametrize("slippage", [None, True, [], {}, "", float("nan"), float("inf"), 1e300, 10**60, "1e0"])
def test_a_slippage_that_is_no_number_is_refused(slippage: object) -> None:
    document = {**render_execute_body(RESULT, SWAP_TERMS, EVM), "slippage": slippage}
    with pytest.raises(InvalidSlippage) as caught:
        parse_execute_body(document, EVM, CALLDATA_V2, NOW_S)
    assert caught.value.details["field"] == "slippage"


@pytest.mark.parametrize(("written", "ppm"), [("0.5", 5_000), ("0.50", 5_000), ("1", 10_000), ("1e0", None),
                                              ("5E-1", None), ("0.30000000000000004", 3_000)])  # fmt: skip
def test_a_number_counts_as_it_is_written(written: str, ppm: int | None) -> None:
    document = json.dumps({**render_execute_body(RESULT, SwapTerms(123_456, RECIPIENT), EVM)})
    body = document.replace("12.3456", written).encode()
    if ppm is not None:
        assert parse_execute_body(parse_json(body), EVM, EXECUTE_V1, NOW_S).terms.slippage_ppm == ppm
    else:
        with pytest.raises(InvalidSlippage):
            parse_execute_body(parse_json(body), EVM, EXECUTE_V1, NOW_S)


def test_a_wrong_type_in_a_body_is_refused_by_name() -> None:
    document: dict[str, Any] = {**render_calldata_body(ORDER._replace(recipient=RECIPIENT), EVM)}
    wrong: list[tuple[str, object]] = [
        ("amount", 1000), ("amount", None), ("tokenInAddress", 5), ("direct", "true"), ("direct", 1),
        ("excludeProtocols", {}), ("excludeProtocols", [None]), ("destination", []),
    ]  # fmt: skip
    for name, value in wrong:
        with pytest.raises(InvalidInput) as caught:
            parse_calldata_body({**document, name: value}, EVM, NOW_S)
        assert caught.value.details["field"] == name


@pytest.mark.parametrize("document", [None, [], "x", 1])
def test_a_body_that_is_no_object_is_refused(document: object) -> None:
    with pytest.raises(InvalidInput, match="must be an object"):
        parse_calldata_body(document, EVM, NOW_S)


def test_reverse_is_for_hyperevm_alone() -> None:
    query = [*TERMS, ("reverse", "true")]
    assert parse_order(query, HYPEREVM, ROUTE_V1).reverse
    assert parse_order(query, HYPEREVM, PAYLOAD_HYPEREVM).reverse
    for network, form in [(MONAD, ROUTE_V1), (HYPEREVM, ROUTE_V2), (HYPEREVM, PAYLOAD_V2)]:
        assert not parse_order(replaced(query, "reverse", "false"), network, form).reverse
        with pytest.raises(InvalidOption, match="reverse is"):
            parse_order(query, network, form)


def test_v2_excludes_with_commas_only() -> None:
    with pytest.raises(InvalidInput, match="must be given once"):
        parse_order([*BASIC, ("excludeProtocols", "1"), ("excludeProtocols", "2")], EVM, ROUTE_V2)


INTEGRATOR = [
    ("integratorAddress", RECIPIENT),
    ("integratorFeePercentageBps", "30"),
    ("integratorSurplusPercentageBps", "0"),
]


def read_integrator(query: list[tuple[str, str]]) -> tuple[str | None, int, int]:
    order = parse_order([*BASIC, *query], EVM, ROUTE_V2)
    return order.integrator_address, order.fee_bps, order.surplus_bps


def test_integrator_parameters_are_read_as_given() -> None:
    assert read_integrator(INTEGRATOR) == (RECIPIENT, 30, 0)
    assert read_integrator(INTEGRATOR[1:]) == (None, 30, 0)
    assert read_integrator(INTEGRATOR[:1]) == (RECIPIENT, 0, 0)


@pytest.mark.parametrize("nothing", ["", "0"])
def test_zero_and_empty_ask_for_nothing(nothing: str) -> None:
    query = [*BASIC, *[(name, nothing) for name, _ in INTEGRATOR[1:]], ("integratorAddress", "")]
    assert not parse_order(query, EVM, ROUTE_V2).has_integrator


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("integratorFeePercentageBps", "501", InvalidOption),
        ("integratorFeePercentageBps", "-1", InvalidOption),
        ("integratorFeePercentageBps", "1.5", InvalidOption),
        ("integratorFeePercentageBps", "1" * 10, InvalidOption),
        ("integratorSurplusPercentageBps", "5001", InvalidOption),
        ("integratorAddress", "acme", InvalidAddress),
        ("integratorAddress", ZERO_ADDRESS, InvalidAddress),
    ],
)
def test_a_bad_wish_is_refused_by_name(name: str, value: str, error: type[InvalidInput]) -> None:
    with pytest.raises(error) as caught:
        parse_order([*BASIC, (name, value)], EVM, ROUTE_V2)
    assert caught.value.details["field"] == name


def test_fee_and_surplus_exclude_each_other() -> None:
    both = "Integrator fee and integrator surplus percentage cannot be provided together"
    with pytest.raises(IntegratorError, match=both):
        parse_order([*BASIC, *replaced(INTEGRATOR, "integratorSurplusPercentageBps", "9")], EVM, ROUTE_V2)


@pytest.mark.parametrize(("given_s", "read_s"), [(None, NOW_S + 1200), (NOW_S + 1, NOW_S + 1), (NOW_S + 10**12, None)])
def test_a_deadline_lies_ahead_or_is_twenty_minutes_away(given_s: int | None, read_s: int | None) -> None:
    document = {**render_execute_body(RESULT, SWAP_TERMS, EVM), "deadline": given_s}
    assert parse_execute_body(document, EVM, EXECUTE_V1, NOW_S).terms.deadline_s == (read_s or given_s)


@pytest.mark.parametrize("deadline", [NOW_S, 0, -1, True, NOW_S + 0.5, str(NOW_S + 9), 2**63, [], "soon"])
def test_a_deadline_that_does_not_lie_ahead_is_refused(deadline: object) -> None:
    document = {**render_execute_body(RESULT, SWAP_TERMS, EVM), "deadline": deadline}
    with pytest.raises(InvalidDeadline) as caught:
        parse_execute_body(document, EVM, EXECUTE_V1, NOW_S)
    assert caught.value.details["field"] == "deadline"
    assert parse_execute_body(document, EVM, CALLDATA_V2, NOW_S).terms.deadline_s is None


@pytest.mark.parametrize(
    ("route", "where"),
    [
        (None, "route"),
        ([], "route"),
        (render_no_route("nothing"), "route"),
        ({**render(RESULT, EVM), "inputAmount": "0"}, "route.inputAmount"),
        ({**render(RESULT, EVM), "route": [{"percent": "100%", "swaps": [[{"percent": "100%"}]]}]},
         "route.route[0].swaps[0][0].protocol"),
    ],
)  # fmt: skip
def test_a_route_that_is_none_is_an_invalid_route(route: object, where: str) -> None:
    document = {"route": route, "slippage": 0.5, "destination": RECIPIENT}
    with pytest.raises(InvalidRoute) as caught:
        parse_execute_body(document, EVM, CALLDATA_V2, NOW_S)
    assert caught.value.details["field"] == where


@pytest.mark.parametrize("signer", [None, "me", ZERO_ADDRESS, 5])
def test_a_bad_signer_is_named(signer: object) -> None:
    document = {"route_response": render(RESULT, CITREA), "slippage": 1, "signer": signer}
    with pytest.raises(InvalidAddress) as caught:
        parse_signer_body(document, CITREA)
    assert caught.value.details["field"] == "signer"


def test_starknet_has_addresses_of_its_own() -> None:
    query = [("amount", "5"), ("tokenInAddress", "0x4"), ("tokenOutAddress", "0x05")]
    assert parse_order(query, STARKNET, ROUTE_V1) == OrderRequest(5, f"0x{4:064x}", f"0x{5:064x}")
    with pytest.raises(InvalidAddress, match="tokenInAddress must be a Starknet address"):
        parse_order(replaced(query, "tokenInAddress", "0x0"), STARKNET, ROUTE_V1)
    with pytest.raises(SameToken):
        parse_order(replaced(query, "tokenInAddress", "0x5"), STARKNET, ROUTE_V1)


names = st.sampled_from([name for name, _ in [*TERMS, *INTEGRATOR]] + ["direct", "reverse", "excludeProtocols", "x[]"])
values = st.text(max_size=8) | st.sampled_from(["\ud800", "1", "true", "[", "[[", "9" * 400, RECIPIENT, "0.5", "[1,2]"])


def outcome(parse: Callable[[], object]) -> object:
    """The parsed request, or the name of the invalid field."""
    try:
        return parse()
    except SwapcliError as error:
        return error.details["field"]


@given(st.lists(st.tuples(names, values), max_size=8), st.sampled_from(FORMS), st.sampled_from(NETWORKS))
def test_no_query_breaks_the_parser(query: list[tuple[str, str]], form: OrderParameters, network: Network) -> None:
    merged = {**dict(TERMS), **dict(query)} if network is not STARKNET else dict(query)
    for pairs in (query, list(merged.items())):
        assert outcome(partial(parse_order, pairs, network, form))


@given(st.data())
def test_no_body_breaks_the_parsers(data: st.DataObject) -> None:
    document: dict[str, Any] = deepcopy({**render_execute_body(RESULT, SWAP_TERMS._replace(deadline_s=NOW_S + 9), EVM)})
    document |= render_calldata_body(ORDER._replace(recipient=RECIPIENT), EVM)
    for _ in range(data.draw(st.integers(1, 3))):
        document[data.draw(st.sampled_from(sorted(document)))] = data.draw(
            st.none() | st.booleans() | st.integers() | st.floats() | values | st.lists(values) | st.just({"": 0})
        )
    assert outcome(lambda: parse_execute_body(document, EVM, EXECUTE_V1, NOW_S))
    assert outcome(lambda: parse_calldata_body(document, EVM, NOW_S))
    assert outcome(lambda: parse_signer_body(document, EVM))
