"""Gas and fees of the transactions of a document."""

from __future__ import annotations

from random import Random

import pytest

from swapcli.core.model.network import Network
from swapcli.core.networks.catalogue import find_network
from swapcli.payload.decode.documents import PayloadInput
from swapcli.payload.decode.given_transaction import GivenTransaction
from swapcli.payload.review.fee_warnings import fee_warnings
from tests.payload.review.reviews import BASE, REVIEW

SWAP = GivenTransaction("0x12", gas=300_000, max_fee_wei=10**9, max_priority_fee_wei=10**6)


def messages(given: PayloadInput, usd: float | None = 2_000.0) -> list[str]:
    return [each.message for each in fee_warnings(REVIEW, given, lambda: usd)]


def test_usual_fees_give_no_warning() -> None:
    assert messages(PayloadInput(SWAP)) == []


def test_a_gas_limit_far_above_the_estimate_is_named() -> None:
    given = PayloadInput(SWAP, document={"gasUnits": 50_000})
    assert messages(given) == ["the gas limit is 300,000, but 200,000 is more than enough"]


def test_an_approval_needs_little_gas() -> None:
    approval = SWAP._replace(calldata="0x34", gas=500_001)
    assert messages(PayloadInput(SWAP, listed=(approval, SWAP), position=1)) == [
        "the gas limit is 500,001, but 500,000 is more than enough"
    ]


def test_fees_are_judged_by_what_they_cost() -> None:
    dear = PayloadInput(SWAP._replace(max_fee_wei=10**12))
    assert "the transaction may cost 0.3 ETH of gas, worth $600.00" in messages(dear)
    assert messages(dear, usd=None) == [
        "the maximum fee is 1,000 gwei per unit of gas, but 50 gwei is more than enough"
    ]
    (swapped,) = messages(PayloadInput(SWAP._replace(max_priority_fee_wei=10**10)))
    assert swapped.startswith("the priority fee is above the maximum fee")


GWEI = 10**9
NETWORKS = {
    # The base fees that honest wallets see, in gwei: at quiet times, and at the busiest.
    "base": (0.001, 5.0),
    "hyperevm": (0.1, 60.0),
    "monad": (50.0, 400.0),
    "citrea": (0.001, 0.2),
    "ether": (0.2, 400.0),
}
ETHER = BASE._replace(name="ether", chain_id=1, gas_price_wei=0, max_gas_price_wei=0)


def network_called(name: str) -> Network:
    return ETHER if name == "ether" else find_network(name)


def price_messages(network: Network, transaction: GivenTransaction, usual_price_wei: int | None = None) -> list[str]:
    review = REVIEW._replace(network=network)
    return [each.message for each in fee_warnings(review, PayloadInput(transaction), lambda: None, usual_price_wei)]


@pytest.mark.parametrize("name", NETWORKS)
def test_honest_requests_without_a_gas_limit_raise_no_alarm(name: str) -> None:
    """500 requests a run, as wallets write them: twice the base fee and a priority fee, or a gas price."""
    rng, network = Random(f"fees of {name}"), network_called(name)
    quiet, busy = NETWORKS[name]
    for _ in range(100):
        base_fee_wei = int(GWEI * quiet * (busy / quiet) ** rng.random())
        priority_wei = rng.choice((0, 1, base_fee_wei // 10, base_fee_wei, int(quiet * GWEI)))
        max_fee_wei = 2 * base_fee_wei + priority_wei
        transaction = GivenTransaction("0x12", max_fee_wei=max_fee_wei, max_priority_fee_wei=priority_wei)
        if rng.random() < 0.3:
            transaction = GivenTransaction("0x12", max_fee_wei=base_fee_wei * rng.randint(1, 3))
        for usual_price_wei in (None, base_fee_wei, base_fee_wei + base_fee_wei // 10):
            assert price_messages(network, transaction, usual_price_wei) == [], (transaction, usual_price_wei)


@pytest.mark.parametrize("name", NETWORKS)
def test_fees_without_a_gas_limit_are_compared_with_the_network(name: str) -> None:
    network, far_above = network_called(name), int(NETWORKS[name][1] * 100) * GWEI
    for transaction in (
        GivenTransaction("0x12", max_fee_wei=far_above),
        GivenTransaction("0x12", max_priority_fee_wei=far_above),
        GivenTransaction("0x12", max_fee_wei=2 * far_above, max_priority_fee_wei=far_above),
    ):
        found = price_messages(network, transaction)
        assert found
        assert all("per unit of gas, but" in each for each in found)
        assert price_messages(network, transaction, int(NETWORKS[name][0] * GWEI))


def test_a_node_has_the_usual_price() -> None:
    dear = GivenTransaction("0x12", max_fee_wei=40 * GWEI)
    assert price_messages(BASE, dear) == []
    assert price_messages(BASE, dear, usual_price_wei=5 * GWEI) == []
    assert price_messages(BASE, dear, usual_price_wei=GWEI) == [
        "the maximum fee is 40 gwei per unit of gas, but 10 gwei is more than enough"
    ]
    tip = GivenTransaction("0x12", max_fee_wei=3 * GWEI // 2, max_priority_fee_wei=3 * GWEI // 2)
    assert price_messages(BASE, tip, usual_price_wei=GWEI // 200) == []  # as wallets set it where fees are tiny


def test_starknet_has_fees_of_its_own() -> None:
    transaction = GivenTransaction("0x", felts=(1,), max_fee_wei=10**18)
    assert price_messages(find_network("starknet"), transaction) == []
