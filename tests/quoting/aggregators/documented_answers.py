"""Answers of aggregators with invented values, in the form that their references document.

The order sells 1.5 ETH for USDC on Base; every answer says 4,500 USDC, 210,000 gas, and the same transaction.
"""

from __future__ import annotations

import json
from typing import Any

from swapcli.core.model.order import Order
from swapcli.core.networks.catalogue import find_network

NETWORK = find_network("base")
USDC = next(each for each in NETWORK.tokens if each.symbol == "USDC")
ORDER = Order(NETWORK.native, USDC, 15 * 10**17)
SENDER = "0x" + "a1" * 20
TARGET, SPENDER = "0x" + "b2" * 20, "0x" + "c3" * 20
AMOUNT_OUT, GAS_UNITS, CALLDATA = 4_500_000_000, 210_000, "0x90411a32" + "00" * 64
AMOUNT_IN = str(ORDER.amount)
_EEEE = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"
_ROUTE = {"tokenIn": _EEEE, "tokenOut": USDC.address, "amountOut": "4500000000", "gas": "210000", "routeID": "a1b2"}

ANSWERS: dict[str, list[dict[str, Any]]] = {
    "lifi": [
        {
            "type": "lifi",
            "tool": "1inch",
            "action": {
                "fromAmount": AMOUNT_IN,
                "toToken": {"address": USDC.address, "decimals": 6, "chainId": 8453},
                "slippage": 0.005,
            },
            "estimate": {
                "toAmount": "4500000000",
                "toAmountMin": "4477500000",
                "approvalAddress": SPENDER,
                "feeCosts": [],
                "gasCosts": [{"type": "SEND", "estimate": "210000", "limit": "262500"}],
            },
            "transactionRequest": {"to": TARGET, "data": CALLDATA, "value": hex(ORDER.amount), "gasLimit": "0x40164"},
        }
    ],
    "openocean": [
        {
            "code": 200,
            "data": {
                "inAmount": AMOUNT_IN,
                "outToken": {"address": USDC.address, "decimals": 6},
                "outAmount": "4500000000",
                "minOutAmount": "4477500000",
                "estimatedGas": 210000,
                "to": TARGET,
                "value": AMOUNT_IN,
                "data": CALLDATA,
                "chainId": 8453,
            },
        }
    ],
    "kyberswap": [
        {"code": 0, "message": "successfully", "data": {"routeSummary": _ROUTE, "routerAddress": TARGET}},
        {
            "code": 0,
            "data": {
                "amountIn": AMOUNT_IN,
                "amountOut": "4500000000",
                "gas": "210000",
                "data": CALLDATA,
                "routerAddress": TARGET,
                "transactionValue": AMOUNT_IN,
            },
        },
    ],
    "0x": [
        {
            "liquidityAvailable": True,
            "chainId": 8453,
            "buyAmount": "4500000000",
            "buyToken": USDC.address,
            "sellAmount": AMOUNT_IN,
            "sellToken": _EEEE,
            "minBuyAmount": "4455000000",
            "allowanceTarget": SPENDER,
            "transaction": {"to": TARGET, "data": CALLDATA, "gas": "210000", "value": AMOUNT_IN},
        }
    ],
    "velora": [
        {
            "priceRoute": {
                "network": 8453,
                "srcAmount": AMOUNT_IN,
                "destToken": USDC.address,
                "destDecimals": 6,
                "destAmount": "4500000000",
                "gasCost": "210000",
                "tokenTransferProxy": SPENDER,
            },
            "txParams": {"to": TARGET, "data": CALLDATA, "value": AMOUNT_IN, "chainId": 8453},
        }
    ],
    "odos": [
        {
            "inAmounts": [AMOUNT_IN],
            "outTokens": [USDC.address],
            "outAmounts": ["4500000000"],
            "gasEstimate": 210000.0,
            "pathId": "f00d",
        },
        {"transaction": {"to": TARGET, "data": CALLDATA, "value": AMOUNT_IN, "chainId": 8453}},
    ],
}
"""The answers to the requests of each packaged adapter."""

WITH_SPENDER = frozenset({"lifi", "0x", "velora"})
"""Those whose answer names who must be approved."""


def bodies(name: str) -> list[str]:
    """Return the answers of an aggregator as text."""
    return [json.dumps(each) for each in ANSWERS[name]]
