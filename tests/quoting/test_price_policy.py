"""The one rule for prices that are not real."""

from __future__ import annotations

import pytest

from swapcli.core.errors import ModelledState
from swapcli.core.model.market import Provenance
from swapcli.core.model.state_source import StateSource
from swapcli.quoting.price_policy import PriceRequest, PriceUse, check_use, may_use

UNREAL = (Provenance.MODELLED, Provenance.SYNTHETIC)
REAL = (Provenance.LIVE, Provenance.SYNCED, Provenance.RECORDED)
NUMBER, PAYLOAD = PriceUse.NUMBER, PriceUse.PAYLOAD


@pytest.mark.parametrize("provenance", [*REAL, None])
@pytest.mark.parametrize("request_", list(PriceRequest))
@pytest.mark.parametrize("use", list(PriceUse))
def test_real_and_unreported_prices_have_every_use(
    provenance: Provenance | None, request_: PriceRequest, use: PriceUse
) -> None:
    check_use(StateSource(provenance, "somewhere"), use, request_)


@pytest.mark.parametrize("provenance", UNREAL)
@pytest.mark.parametrize(
    ("request_", "number", "payload"),
    [(PriceRequest.NONE, False, False), (PriceRequest.MARKET, True, False), (PriceRequest.OFFLINE, True, True)],
)
def test_unreal_prices_are_shown_and_otherwise_need_a_request(
    provenance: Provenance, request_: PriceRequest, number: bool, payload: bool
) -> None:
    state = StateSource(provenance, "somewhere")
    assert may_use(state, PriceUse.SHOWN, request_)
    assert may_use(state, NUMBER, request_) is number
    assert may_use(state, PAYLOAD, request_) is payload


def test_naming_a_market_file_requests_nothing_of_a_service() -> None:
    state = StateSource(Provenance.SYNTHETIC, "somewhere", service_url="http://127.0.0.1:1")
    assert not may_use(state, NUMBER, PriceRequest.MARKET)


def test_the_hint_suggests_only_what_helps() -> None:
    state = StateSource(Provenance.MODELLED, "somewhere")
    with pytest.raises(ModelledState, match="no node was read") as caught:
        check_use(state, NUMBER, PriceRequest.NONE, node_hint="give --rpc-url URL")
    assert str(caught.value.hint).startswith("give --rpc-url URL; ")
    assert "--offline" in str(caught.value.hint)
    assert caught.value.details == {"state": "modelled", "use": "number"}
    with pytest.raises(ModelledState) as caught:  # a market file cannot be combined with a node
        check_use(state, PAYLOAD, PriceRequest.MARKET, node_hint="give --rpc-url URL")
    assert "--rpc-url" not in str(caught.value.hint)
    assert not caught.value.is_retryable
    with pytest.raises(ModelledState, match="so no transaction is built: every node is down") as caught:
        check_use(state._replace(live_failure="every node is down"), PAYLOAD, PriceRequest.NONE)
    assert caught.value.is_retryable
    assert caught.value.details["liveFailure"] == "every node is down"
    with pytest.raises(ModelledState, match=r"http://127\.0\.0\.1:1 quotes on them") as caught:
        check_use(state._replace(service_url="http://127.0.0.1:1"), PAYLOAD, PriceRequest.NONE)
    assert "never" in str(caught.value.hint)
