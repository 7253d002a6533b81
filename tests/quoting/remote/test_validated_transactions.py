"""Transactions that differ from the order are rejected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from swapcli.core.errors import (
    ConfigError,
)
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.core.networks.catalogue import find_network
from swapcli.payload.evm import decode_call, encode_call
from swapcli.quoting.sources.quote_source import quote_and_build
from tests.quoting.remote.cases import (
    HYPE,
    SELL_V1,
    SELL_V2,
    STRK,
    UNTRUSTED_ADDRESS,
    Case,
    DocumentChange,
    expected_quote,
    mismatch_error,
    post_route,
    request_quote_and_build,
    set_value,
)
from tests.support.fake_service import remote_source

CALL = ("calldata",)


@pytest.mark.parametrize(
    ("case", "inside", "build"),
    [
        (SELL_V2, CALL, request_quote_and_build),
        (SELL_V2, (), post_route),
        (HYPE, CALL, request_quote_and_build),
        (HYPE, (), post_route),
    ],
    ids=["V2 at once", "V2 posted", "hyperevm at once", "hyperevm posted"],
)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((UNTRUSTED_ADDRESS, "route", "destination"), "a call that pays 0x6666"),
        (("1", "route", "min_received"), "a call that guarantees 1, less than"),
        (("0", "route", "min_received"), "a call that guarantees 0, less than"),
        (("1", "route", "amount_in"), "a call that sells 1, not"),
        (("1", "route", "amount_out"), "a call whose output is 1"),
        ((UNTRUSTED_ADDRESS, "route", "token_in"), "different tokens"),
        ((UNTRUSTED_ADDRESS, "route", "token_out"), "different tokens"),
        ((1, "route", "swap_type"), "a call of type 1"),
        ((UNTRUSTED_ADDRESS, "swap_parameters", 0, "pool_address"), "pools differ from its route"),
        (("77", "swap_parameters", 0, "protocol_id"), "pools differ from its route"),
        (("0x" + "ab" * 96, "integrator_data"), "integrator differs"),
    ],
    ids=lambda each: ".".join(str(step) for step in each[1:]) if isinstance(each, tuple) else "",
)
def test_a_call_that_differs_from_the_order_is_rejected(
    case: Case, inside: tuple[str, ...], build: Any, change: tuple[Any, ...], message: str
) -> None:
    value, *path = change
    assert message in mismatch_error(case, set_value(value, *inside, *path), build).message


@pytest.mark.parametrize("build", [request_quote_and_build, post_route])
def test_the_guarantee_may_exceed_the_slippage_limit_only(build: Any) -> None:
    inside = CALL if build is request_quote_and_build else ()
    minimum = expected_quote(SELL_V2)[1].call.route.min_received
    assert (
        "less than"
        in mismatch_error(SELL_V2, set_value(str(minimum - 1), *inside, "route", "min_received"), build).message
    )

    def generous(_: str, document: Any) -> Any:
        if "swap_parameters" in document or "calldata" in document:
            set_value(str(minimum + 1), *inside, "route", "min_received")(document)
        return document

    with remote_source("base", generous) as (source, _):
        payload = (
            quote_and_build(source, SELL_V2.build_request(), SELL_V2.terms())[1]
            if inside
            else post_route(source, SELL_V2)
        )
    assert isinstance(payload, UnsignedTransaction)
    assert decode_call(payload.calldata).route.min_received == minimum + 1


@pytest.mark.parametrize("more", [-1, 1])
def test_a_route_and_its_call_have_the_same_output(more: int) -> None:
    out = str(expected_quote(SELL_V2)[0].output_amount + more)
    assert (
        "for a route whose output is"
        in mismatch_error(SELL_V2, set_value(out, "calldata", "route", "amount_out"), request_quote_and_build).message
    )


@pytest.mark.parametrize("path", [("swap_parameters", 0, "rate"), ("route", "amount_out"), ("route", "min_received")])
def test_calldata_equals_the_json_call(path: tuple[str | int, ...]) -> None:
    error = mismatch_error(SELL_V1, set_value("999999", *path), post_route)
    assert "differs from its route and swap_parameters" in error.message


def test_an_output_below_the_slippage_limit_is_rejected() -> None:
    """A service cannot lower the guaranteed output by reporting a lower output."""
    out = expected_quote(SELL_V2)[0].output_amount * 99 // 100

    def lower(answer: Any) -> None:
        answer["route"]["amount_out"] = answer["route"]["min_received"] = str(out)

    assert "less than the" in mismatch_error(SELL_V2, lower, post_route).message


@pytest.mark.parametrize("path", ["router_address"])
@pytest.mark.parametrize("build", [request_quote_and_build, post_route])
def test_an_unknown_router_is_rejected_with_its_setting(path: str, build: Any) -> None:
    error = mismatch_error(SELL_V2, set_value(UNTRUSTED_ADDRESS, path), build)
    assert "a transaction for the router 0x6666" in error.message
    assert "networks.base.router" in str(error.hint)


def test_the_router_of_the_service_is_used_if_none_is_known() -> None:
    unknown = find_network("base")._replace(router=None)
    with remote_source("base", served=unknown) as (source, _):
        payload = quote_and_build(source, SELL_V2.build_request(), SELL_V2.terms())[1]
    assert payload.to == find_network("base").router


def test_an_unknown_router_must_be_configured() -> None:
    unknown = find_network("hyperevm")._replace(router=None)
    with (
        remote_source("hyperevm", served=unknown) as (source, _),
        pytest.raises(ConfigError, match="router of hyperevm"),
    ):
        quote_and_build(source, HYPE.build_request(), HYPE.terms())


def recode(change_call: Callable[[Any], Any]) -> DocumentChange:
    """Return a change that encodes another call than the JSON one."""

    def change(answer: Any) -> None:
        answer["calldata"] = encode_call(change_call(decode_call(answer["calldata"])))

    return change


def with_route(**changes: Any) -> Callable[[Any], Any]:
    return lambda call: call._replace(route=call.route._replace(**changes))


@pytest.mark.parametrize("build", [request_quote_and_build, post_route])
@pytest.mark.parametrize(
    "change",
    [
        with_route(recipient=UNTRUSTED_ADDRESS),
        with_route(min_received=1),
        with_route(amount_in=1),
        with_route(amount_out=1),
        with_route(token_out=UNTRUSTED_ADDRESS),
        lambda call: call._replace(swaps=(call.swaps[0]._replace(pool_address=UNTRUSTED_ADDRESS), *call.swaps[1:])),
        lambda call: call._replace(integrator_data=bytes(96)),
    ],
)
def test_calldata_of_another_call_is_rejected(build: Any, change: Any) -> None:
    assert mismatch_error(SELL_V1, recode(change), build)


@pytest.mark.parametrize("build", [request_quote_and_build, post_route])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_value("0x", "calldata"), "selector"),
        (set_value("0xdeadbeef", "calldata"), "unreadable response"),
        (set_value("rubbish", "calldata"), "calldata"),
        (set_value(UNTRUSTED_ADDRESS, "to"), "a transaction for the router"),
        (set_value("0", "value"), "a value of 0 wei"),
        (set_value(str(10**21), "value"), "a value of 1000000000000000000000 wei"),
        (lambda answer: answer.update(calldata=answer["calldata"] + "00" * 32), "calldata"),
    ],
)
def test_a_transaction_that_differs_from_the_order_is_rejected(
    build: Any, change: DocumentChange, message: str
) -> None:
    assert message in mismatch_error(SELL_V1, change, build).message


def test_a_call_without_its_transaction_is_encoded_here() -> None:
    def bare(path: str, answer: Any) -> Any:
        return {key: answer[key] for key in ("route", "swap_parameters")} if path == "execute" else answer

    with remote_source("monad", bare) as (source, _):
        assert post_route(source, SELL_V1) == expected_quote(SELL_V1)[1]


@pytest.mark.parametrize("build", [request_quote_and_build, post_route])
@pytest.mark.parametrize(
    ("at", "value"),
    [(1, "1"), (2, "1"), (4, "1"), (6, "102"), (7, "0"), (12, UNTRUSTED_ADDRESS), (10, "0"), (-1, "-7")],
)
def test_felts_of_another_call_are_rejected(build: Any, at: int, value: str) -> None:
    assert mismatch_error(STRK, set_value(value, "calldata", at), build)
