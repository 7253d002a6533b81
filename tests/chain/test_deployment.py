"""A router is on a network after one signed transaction, and serves at once."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from eth_account import Account

from swapcli.evm.router import build_deployment
from tests.chain.trading import GAS_PRICE_WEI, KEY, Desk

MOST_GAS = 3_500_000


def test_the_deployment_is_signed_and_mined_and_then_carries_routes_out(desk: Desk) -> None:
    payload = build_deployment(desk.world.network)
    fields = {
        "nonce": desk.nonce,
        "gasPrice": GAS_PRICE_WEI,
        "gas": MOST_GAS,
        "value": payload.value,
        "data": payload.calldata,
        "chainId": payload.chain_id,
    }
    receipt = desk.chain.send_raw(Account.sign_transaction(fields, KEY).raw_transaction)
    assert receipt.succeeded
    assert receipt.created not in (None, desk.world.router.address)
    desk.nonce += 1
    desk.market = replace(desk.market, network=replace(desk.market.network, router=receipt.created))
    for trade in desk.trades(Random("deployed"), 10):
        assert trade.payload.to == receipt.created
        assert desk.carry_out(trade).received == trade.due
