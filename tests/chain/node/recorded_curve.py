"""Curve's pools as a node shows them, from what was recorded of the real contracts.

Their compiler is no npm package, so that they cannot run here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eth_abi.abi import encode

from swapcli.chain.call_encoding import encode_call
from swapcli.chain.multicall import MULTICALL3
from swapcli.chain.node import ContractCall, ReturnData
from tests.pools.random_pools import ADDRESS, TOKENS

MATHS = "0x" + "4d" * 20


class RecordedCurvePool:
    """A cryptoswap pool before a recorded swap; `send` answers the calls of readers."""

    def __init__(self, pool: dict[str, Any], step: dict[str, Any]) -> None:
        before, count = step["before"], pool["n_coins"]
        version = pool["version"] if count == 2 else "v2.0.0"
        oracle = step["after"]["price_oracle_cached"]
        self.answers: dict[tuple[str, bytes], bytes] = {}
        self.rounds = 0
        self._put(MULTICALL3, "getCurrentBlockTimestamp()", step["timestamp"])
        self.put_version(ADDRESS, version)
        self.put_version(MATHS, version)
        self._put(ADDRESS, "MATH()", int(MATHS, 16))
        for name in ("mid_fee", "out_fee", "fee_gamma", "allowed_extra_profit", "adjustment_step"):
            self._put(ADDRESS, f"{name}()", pool[name])
        for name in ("future_A_gamma_time", "D", "xcp_profit", "virtual_price"):
            self._put(ADDRESS, f"{name}()", before[name])
        self._put(ADDRESS, "totalSupply()", before["total_supply"])
        self._put(ADDRESS, "A()", step["A"])
        self._put(ADDRESS, "gamma()", step["gamma"])
        for k in range(count):
            self._put(ADDRESS, "coins(uint256)", int(TOKENS[k], 16), k)
            self._put(ADDRESS, "balances(uint256)", before["balances"][k], k)
        prices = {"price_scale": before["price_scale"], "price_oracle": oracle, "last_prices": before["last_prices"]}
        for name, values in prices.items():
            if count == 2:
                self._put(ADDRESS, f"{name}()", values[0])
            else:
                for k, value in enumerate(values):
                    self._put(ADDRESS, f"{name}(uint256)", value, k)

    def put_version(self, address: str, version: str) -> None:
        """Set the version that a contract names."""
        self.answers[address, encode_call("version()")] = encode(["string"], [version])

    def send(self, calls: Sequence[ContractCall]) -> list[ReturnData]:
        """Answer a round of calls; a call of a function that the contract lacks reverts."""
        self.rounds += 1
        return [self.answers.get((call.to, call.calldata)) for call in calls]

    def _put(self, address: str, name: str, value: int | str, *arguments: int) -> None:
        self.answers[address, encode_call(name, *arguments)] = int(value).to_bytes(32)
