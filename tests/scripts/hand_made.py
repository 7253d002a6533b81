"""A proof written by hand, of a market in which everything can be computed on paper."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

Record = dict[str, Any]


def hand_made_proof() -> Record:
    """The proof of an order of 100 A for B on two pools without fees: 1000 A against 1000 B, and 3000 A against 3000 B.

    The best split is 25 to 75: 1000 * 25 / 1025 = 24.39 and 3000 * 75 / 3075 = 73.17, in whole units 97. At the end
    both pay (1000 / 1025)^2 = 0.9518 B for an A, which is the price of A that proves it. At that price v the first
    gains 24.3902 - 25 v = 0.5949 and the second 1.7846, so that the bound is 100 v + 2.3795 = 97.5610.
    """
    pools: list[Record] = [
        {
            "address": "0x" + str(number) * 40,
            "protocol": "uniswapV2",
            "family": "constant_product",
            "tokens": [0, 1],
            "fee_ppm": 0,
            "reserves": [depth, depth],
            "gas": 50_000,
        }
        for number, depth in ((1, "1000"), (2, "3000"))
    ]
    document: Record = {
        "format": "swapcli-proof",
        "version": 2,
        "network": "paper",
        "chainId": "1",
        "state": {"source": "paper", "block": None, "blockHash": None, "timestamp": None},
        "order": {"tokenIn": 0, "tokenOut": 1, "exact": "input", "amount": "100"},
        "route": {
            "amountIn": "100",
            "amountOut": "97",
            "gasUnits": 200_000,
            "steps": [
                {"pool": 0, "tokenIn": 0, "tokenOut": 1, "amountIn": "25", "amountOut": "24"},
                {"pool": 1, "tokenIn": 0, "tokenOut": 1, "amountIn": "75", "amountOut": "73"},
            ],
        },
        "gas": {"priceWei": "0", "unitValue": "0.00001", "base": 90_000, "tokenBetween": 10_000},
        "scope": {"pools": 2, "stateHash": "", "maxHops": 3, "maxPools": None, "excludedProtocols": [], "dust": []},
        "tokens": [{"address": "0x" + each * 40, "symbol": each, "decimals": 0} for each in "AB"],
        "pools": pools,
        "bounds": [
            {
                "kind": "output",
                "bound": "97.561",
                "gapBps": "57.84",
                "excluded": [],
                "leaves": [
                    {
                        "used": [],
                        "unused": [],
                        "before": [],
                        "prices": ["0.951814396192742", "1"],
                        "rates": [],
                        "product": None,
                        "terms": [
                            [0, 0, 1, "25", "24", "0.9518", "0.594884"],
                            [1, 0, 1, "75", "73", "0.9518", "1.784652"],
                        ],
                        "bound": "97.561",
                    }
                ],
            },
            {
                "kind": "afterGas",
                "bound": "95.661",
                "gapBps": "69.6",
                "limits": {"prices": [], "terms": [], "spotRates": [], "tokens": []},
                "leaves": [
                    {
                        "used": [],
                        "unused": [],
                        "before": [],
                        "prices": [],
                        "rates": [[0, 1, "0.951814396192742"]],
                        "product": "0.951814396192742",
                        "terms": [
                            [0, 0, 1, "25", "24", "0.9518", "0.594884"],
                            [1, 0, 1, "75", "73", "0.9518", "1.784652"],
                        ],
                        "bound": "95.661",
                    }
                ],
            },
        ],
    }
    return with_hash(document)


def with_hash(document: Record) -> Record:
    """Write the number and the hash of the pools."""
    text = json.dumps(document["pools"], sort_keys=True, separators=(",", ":"))
    document["scope"] |= {"pools": len(document["pools"]), "stateHash": sha256(text.encode()).hexdigest()}
    return document
