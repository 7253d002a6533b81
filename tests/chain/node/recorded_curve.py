"""Curve's pools as a node shows them, from what was recorded of the real contracts.

Their compiler is no npm package, so that they cannot run here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eth_abi.abi import encode

from swapcli.families.reading.call_encoding import encode_call
from swapcli.families.reading.calls import MULTICALL3, ContractCall, ReturnData
from swapcli.testing.strategies import ADDRESS, TOKENS

MATHS = "0x" + "4d" * 20


class RecordedContracts:
    """Contracts whose answers are known; `send` answers the calls of readers, and `rounds` counts them."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, bytes], bytes] = {}
        self.rounds = 0

    def put(self, address: str, name: str, value: int | str, *arguments: int | str) -> None:
        """Set the number that a function returns."""
        self.answers[address, encode_call(name, *arguments)] = int(value).to_bytes(32)

    def put_address(self, address: str, name: str, value: str, *arguments: int) -> None:
        """Set the address that a function returns."""
        self.put(address, name, int(value, 16), *arguments)

    def put_list(self, address: str, name: str, values: Sequence[int]) -> None:
        """Set the list that a function returns."""
        self.answers[address, encode_call(name)] = encode(["uint256[]"], [values])

    def put_version(self, address: str, version: str) -> None:
        """Set the version that a contract names."""
        self.answers[address, encode_call("version()")] = encode(["string"], [version])

    def send(self, calls: Sequence[ContractCall]) -> list[ReturnData]:
        """Answer a round of calls; a call of a function that the contract lacks reverts."""
        self.rounds += 1
        return [self.answers.get((call.to, call.calldata)) for call in calls]


class RecordedCurvePool(RecordedContracts):
    """A cryptoswap pool before a recorded swap."""

    def __init__(self, pool: dict[str, Any], step: dict[str, Any]) -> None:
        super().__init__()
        before, count = step["before"], pool["n_coins"]
        version = pool["version"] if count == 2 else "v2.0.0"
        oracle = step["after"]["price_oracle_cached"]
        self.put(MULTICALL3, "getCurrentBlockTimestamp()", step["timestamp"])
        self.put_version(ADDRESS, version)
        self.put_version(MATHS, version)
        self.put_address(ADDRESS, "MATH()", MATHS)
        for name in ("mid_fee", "out_fee", "fee_gamma", "allowed_extra_profit", "adjustment_step"):
            self.put(ADDRESS, f"{name}()", pool[name])
        for name in ("future_A_gamma_time", "D", "xcp_profit", "virtual_price"):
            self.put(ADDRESS, f"{name}()", before[name])
        self.put(ADDRESS, "totalSupply()", before["total_supply"])
        self.put(ADDRESS, "A()", step["A"])
        self.put(ADDRESS, "gamma()", step["gamma"])
        for k in range(count):
            self.put_address(ADDRESS, "coins(uint256)", TOKENS[k], k)
            self.put(ADDRESS, "balances(uint256)", before["balances"][k], k)
        prices = {"price_scale": before["price_scale"], "price_oracle": oracle, "last_prices": before["last_prices"]}
        for name, values in prices.items():
            if count == 2:
                self.put(ADDRESS, f"{name}()", values[0])
            else:
                for k, value in enumerate(values):
                    self.put(ADDRESS, f"{name}(uint256)", value, k)


class RecordedMetapool(RecordedContracts):
    """A metapool of a factory before a recorded swap, and its base pool, which is its own liquidity token."""

    def __init__(self, factory: str, pool: dict[str, Any], step: dict[str, Any]) -> None:
        super().__init__()
        before, base = step["before"], TOKENS[1]
        count = len(pool["base_decimals"])
        self.put(factory, "is_meta(address)", 1, ADDRESS)
        self.put_address(ADDRESS, "BASE_POOL()", base)
        self.put(base, "totalSupply()", before["base_total_supply"])
        own_rates = [int(before["meta_rates"][0]), int(before["base_virtual_price"])]
        for address, tokens, prefix, rates in (
            (ADDRESS, TOKENS[:2], "meta", own_rates),
            (base, TOKENS[2 : 2 + count], "base", [int(rate) for rate in pool["base_rates"]]),
        ):
            self.put_version(address, "v7.0.0")
            amp = int(before[f"{prefix}_amp_x100"])
            self.put(address, "A()", amp // 100)
            self.put(address, "A_precise()", amp)
            self.put(address, "future_A()", amp // 100 * 100)
            self.put(address, "fee()", pool[f"{prefix}_fee_1e10"])
            self.put(address, "offpeg_fee_multiplier()", pool[f"{prefix}_offpeg_fee_multiplier_1e10"])
            self.put_list(address, "stored_rates()", rates)
            for k, token in enumerate(tokens):
                self.put_address(address, "coins(uint256)", token, k)
                self.put(address, "balances(uint256)", before[f"{prefix}_balances"][k], k)
