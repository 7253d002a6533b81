"""A router is on a network after one signed transaction, and serves at once."""

from __future__ import annotations

from random import Random

from eth_account import Account

from swapcli.payload.evm.router import build_deployment
from tests.chain.trader import GAS_PRICE_WEI, KEY, Trader

MOST_GAS = 5_500_000


def test_a_signed_deployment_executes_routes(trader: Trader) -> None:
    payload = build_deployment(trader.world.network)
    fields = {
        "nonce": trader.nonce,
        "gasPrice": GAS_PRICE_WEI,
        "gas": MOST_GAS,
        "value": payload.value,
        "data": payload.calldata,
        "chainId": payload.chain_id,
    }
    receipt = trader.chain.send_raw(Account.sign_transaction(fields, KEY).raw_transaction)
    assert receipt.succeeded
    assert receipt.created not in (None, trader.world.router.address)
    trader.nonce += 1
    trader.market = trader.market._replace(network=trader.market.network._replace(router=receipt.created))
    for trade in trader.trades(Random("deployed"), 10):
        assert trade.payload.to == receipt.created
        assert trader.execute(trade).received == trade.amount_due
