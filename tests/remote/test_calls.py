"""A call is refused that does something else than was asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from swapcli.errors import (
    ConfigError,
)
from swapcli.evm import decode_call, encode_call
from swapcli.model.transaction import UnsignedTransaction
from swapcli.networks.catalogue import network
from tests.remote.cases import (
    HYPE,
    SELL_V1,
    SELL_V2,
    STRANGER,
    STRK,
    Case,
    Twisted,
    at_once,
    core,
    posted,
    put,
    refused,
)
from tests.support.fake_service import remote_source

CALL = ("calldata",)


@pytest.mark.parametrize(
    ("case", "inside", "build"),
    [(SELL_V2, CALL, at_once), (SELL_V2, (), posted), (HYPE, CALL, at_once), (HYPE, (), posted)],
    ids=["V2 at once", "V2 posted", "hyperevm at once", "hyperevm posted"],
)
@pytest.mark.parametrize(
    ("twist", "said"),
    [
        ((STRANGER, "route", "destination"), "a call that pays 0x6666"),
        (("1", "route", "min_received"), "a call that guarantees 1, less than"),
        (("0", "route", "min_received"), "a call that guarantees 0, less than"),
        (("1", "route", "amount_in"), "a call that sells 1, not"),
        (("1", "route", "amount_out"), "a call whose output is 1"),
        ((STRANGER, "route", "token_in"), "other tokens"),
        ((STRANGER, "route", "token_out"), "other tokens"),
        ((1, "route", "swap_type"), "a call of type 1"),
        ((STRANGER, "swap_parameters", 0, "pool_address"), "other pools than its route"),
        (("77", "swap_parameters", 0, "protocol_id"), "other pools than its route"),
        (("0x" + "ab" * 96, "integrator_data"), "integrator differs"),
    ],
    ids=lambda each: ".".join(str(step) for step in each[1:]) if isinstance(each, tuple) else "",
)
def test_a_call_that_was_not_asked_for_is_refused(
    case: Case, inside: tuple[str, ...], build: Any, twist: tuple[Any, ...], said: str
) -> None:
    value, *path = twist
    assert said in refused(case, put(value, *inside, *path), build).message


@pytest.mark.parametrize("build", [at_once, posted])
def test_no_less_is_guaranteed_than_the_slippage_allows_and_more_may_be(build: Any) -> None:
    inside = CALL if build is at_once else ()
    least = core(SELL_V2)[1].call.route.min_received
    assert "less than" in refused(SELL_V2, put(str(least - 1), *inside, "route", "min_received"), build).message

    def generous(_: str, document: Any) -> Any:
        if "swap_parameters" in document or "calldata" in document:
            put(str(least + 1), *inside, "route", "min_received")(document)
        return document

    with remote_source("base", generous) as (source, _):
        payload = source.quote_and_build(SELL_V2.ask(), SELL_V2.terms())[1] if inside else posted(source, SELL_V2)
    assert isinstance(payload, UnsignedTransaction)
    assert decode_call(payload.calldata).route.min_received == least + 1


@pytest.mark.parametrize("more", [-1, 1])
def test_a_route_and_its_call_promise_the_same(more: int) -> None:
    out = str(core(SELL_V2)[0].output_amount + more)
    assert (
        "for a route whose output is" in refused(SELL_V2, put(out, "calldata", "route", "amount_out"), at_once).message
    )


@pytest.mark.parametrize("path", [("swap_parameters", 0, "rate"), ("route", "amount_out"), ("route", "min_received")])
def test_calldata_says_the_same_as_what_stands_beside_it(path: tuple[str | int, ...]) -> None:
    error = refused(SELL_V1, put("999999", *path), posted)
    assert "differs from its route and swap_parameters" in error.message


def test_an_output_below_what_the_slippage_allows_of_the_route_is_refused() -> None:
    """A service cannot lower what is guaranteed by telling of a lower output."""
    out = core(SELL_V2)[0].output_amount * 99 // 100

    def lower(answer: Any) -> None:
        answer["route"]["amount_out"] = answer["route"]["min_received"] = str(out)

    assert "less than the" in refused(SELL_V2, lower, posted).message


@pytest.mark.parametrize("path", ["router_address"])
@pytest.mark.parametrize("build", [at_once, posted])
def test_a_router_that_is_not_known_here_is_refused_and_the_setting_named(path: str, build: Any) -> None:
    error = refused(SELL_V2, put(STRANGER, path), build)
    assert "a transaction for the router 0x6666" in error.message
    assert "networks.base.router" in str(error.hint)


def test_where_no_router_is_known_the_services_own_is_taken() -> None:
    unknown = replace(network("base"), router=None)
    with remote_source("base", served=unknown) as (source, _):
        payload = source.quote_and_build(SELL_V2.ask(), SELL_V2.terms())[1]
    assert payload.to == network("base").router


def test_where_nobody_knows_the_router_it_is_asked_for() -> None:
    unknown = replace(network("hyperevm"), router=None)
    with (
        remote_source("hyperevm", served=unknown) as (source, _),
        pytest.raises(ConfigError, match="router of hyperevm"),
    ):
        source.quote_and_build(HYPE.ask(), HYPE.terms())


def recode(change: Callable[[Any], Any]) -> Twisted:
    """Encodes another call than the one that the answer says."""

    def twist(answer: Any) -> None:
        answer["calldata"] = encode_call(change(decode_call(answer["calldata"])))

    return twist


def with_route(**changes: Any) -> Callable[[Any], Any]:
    return lambda call: call._replace(route=call.route._replace(**changes))


@pytest.mark.parametrize("build", [at_once, posted])
@pytest.mark.parametrize(
    "change",
    [
        with_route(recipient=STRANGER),
        with_route(min_received=1),
        with_route(amount_in=1),
        with_route(amount_out=1),
        with_route(token_out=STRANGER),
        lambda call: call._replace(swaps=(call.swaps[0]._replace(pool_address=STRANGER), *call.swaps[1:])),
        lambda call: call._replace(integrator_data=bytes(96)),
    ],
)
def test_calldata_that_does_something_else_is_refused(build: Any, change: Any) -> None:
    assert refused(SELL_V1, recode(change), build)


@pytest.mark.parametrize("build", [at_once, posted])
@pytest.mark.parametrize(
    ("twist", "said"),
    [
        (put("0x", "calldata"), "selector"),
        (put("0xdeadbeef", "calldata"), "unreadable answer"),
        (put("rubbish", "calldata"), "calldata"),
        (put(STRANGER, "to"), "a transaction for the router"),
        (put("0", "value"), "a value of 0 wei"),
        (put(str(10**21), "value"), "a value of 1000000000000000000000 wei"),
        (lambda answer: answer.update(calldata=answer["calldata"] + "00" * 32), "calldata"),
    ],
)
def test_a_transaction_that_was_not_asked_for_is_refused(build: Any, twist: Twisted, said: str) -> None:
    assert said in refused(SELL_V1, twist, build).message


def test_a_call_without_its_transaction_is_encoded_here() -> None:
    def bare(path: str, answer: Any) -> Any:
        return {key: answer[key] for key in ("route", "swap_parameters")} if path == "execute" else answer

    with remote_source("monad", bare) as (source, _):
        assert posted(source, SELL_V1) == core(SELL_V1)[1]


@pytest.mark.parametrize("build", [at_once, posted])
@pytest.mark.parametrize(
    ("at", "value"), [(1, "1"), (2, "1"), (4, "1"), (6, "102"), (7, "0"), (12, STRANGER), (10, "0"), (-1, "-7")]
)
def test_felts_that_do_something_else_are_refused(build: Any, at: int, value: str) -> None:
    assert refused(STRK, put(value, "calldata", at), build)
