"""A Universal Router in Python, on pools in memory: it decodes calldata with eth_abi and executes its commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from eth_abi.abi import decode, encode

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool

SWAP_FIELDS = ["address", "uint256", "uint256", "bytes", "bool", "uint256[]"]
PATH_FIELDS = ["address", "uint256", "uint256", "address[]", "bool", "uint256[]"]
POOL_KEY = "(address,address,uint24,int24,address)"
PATH_KEY = "(address,uint24,int24,address,bytes)"
V4_TYPES = {
    "2.0": (f"({POOL_KEY},bool,uint128,uint128,bytes)", f"(address,{PATH_KEY}[],uint128,uint128)"),
    "2.1.0": (f"({POOL_KEY},bool,uint128,uint128,bytes)", f"(address,{PATH_KEY}[],uint256[],uint128,uint128)"),
    "2.1.1": (f"({POOL_KEY},bool,uint128,uint128,uint256,bytes)", f"(address,{PATH_KEY}[],uint256[],uint128,uint128)"),
}
ROUTER = "0x" + "2".zfill(40)
CONTRACT_BALANCE = 1 << 255


_Handlers = Mapping[int, tuple[list[str], Callable[..., None]]]


class RouterModel:
    """The router with empty balances; `caller` and `paid` count what the caller spends and others receive.

    `v4_debts` are what a V4 swap owes to (positive) or may take from (negative) the pool manager.
    """

    def __init__(self, pools: Mapping[str, Pool], wrapped: str, version: str) -> None:
        self.pools, self.wrapped = dict(pools), wrapped
        self.single_type, self.path_type = V4_TYPES[version]
        self.balances: Counter[str] = Counter()
        self.caller: Counter[str] = Counter()
        self.paid: Counter[tuple[str, str]] = Counter()
        self.v4_debts: Counter[str] = Counter()

    def execute(self, calldata: str, value: int) -> int:
        """Execute calldata that is sent with native currency, and return its deadline."""
        arguments = bytes.fromhex(calldata[2 + 8 :])
        commands, inputs, deadline_s = decode(["bytes", "bytes[]", "uint256"], arguments)
        assert encode(["bytes", "bytes[]", "uint256"], [commands, inputs, deadline_s]) == arguments
        assert calldata.startswith("0x3593564c")
        assert len(commands) == len(inputs)
        self.balances[ZERO_ADDRESS] += value
        for code, content in zip(commands, inputs, strict=True):
            self._command(code, content)
        return int(deadline_s)

    def _command(self, code: int, content: bytes) -> None:
        handlers: _Handlers = {
            0x00: (SWAP_FIELDS, self._v3),
            0x02: (["address", "address", "uint160"], self._pull),
            0x04: (["address", "address", "uint160"], self._sweep),
            0x06: (["address", "address", "uint256"], self._pay_fee),
            0x08: (PATH_FIELDS, self._v2),
            0x0B: (["address", "uint256"], self._wrap),
            0x0C: (["address", "uint256"], self._unwrap),
            0x10: (["bytes", "bytes[]"], self._v4),
        }
        types, handle = handlers[code]
        fields = decode(types, content)
        assert encode(types, fields) == content
        handle(*fields)

    def _v3(self, recipient: str, amount: int, minimum: int, path: bytes, pulls: bool, prices: Sequence[int]) -> None:
        assert (recipient, minimum, prices) == (ROUTER, 0, ())
        tokens = [f"0x{path[k : k + 20].hex()}" for k in range(0, len(path), 23)]
        fees = [int.from_bytes(path[k : k + 3]) for k in range(20, len(path), 23)]
        self._through("uniswapv3", tokens, fees, self._spend(tokens[0], amount, pulls))

    def _v2(self, recipient: str, amount: int, minimum: int, path: Sequence[str], pulls: bool, prices: Any) -> None:
        assert (recipient, minimum, prices) == (ROUTER, 0, ())
        self._through("uniswapv2", path, [3000] * (len(path) - 1), self._spend(path[0], amount, pulls))

    def _through(self, protocol: str, tokens: Sequence[str], fees: Sequence[int], amount: int) -> None:
        for token_in, token_out, fee in zip(tokens, tokens[1:], fees, strict=False):
            (pool,) = (
                pool
                for pool in self.pools.values()
                if (pool.protocol.lower(), pool.fee_ppm, set(pool.tokens)) == (protocol, fee, {token_in, token_out})
            )
            amount = self._swap(pool, token_in, token_out, amount)
        self.balances[tokens[-1]] += amount

    def _swap(self, pool: Pool, token_in: str, token_out: str, amount: int) -> int:
        amount_out, self.pools[pool.key] = pool.swap(token_in, token_out, amount)
        return amount_out

    def _spend(self, token: str, amount: int, pulls: bool) -> int:
        """Take the input of a swap from the caller or from the router."""
        if pulls:
            assert amount != CONTRACT_BALANCE
            self.caller[token] += amount
            return amount
        amount = self.balances[token] if amount == CONTRACT_BALANCE else amount
        assert 0 < amount <= self.balances[token]
        self.balances[token] -= amount
        return amount

    def _v4(self, actions: bytes, parameters: Sequence[bytes]) -> None:
        handlers: _Handlers = {
            0x06: ([self.single_type], self._v4_single),
            0x07: ([self.path_type], self._v4_path),
            0x0B: (["address", "uint256", "bool"], self._settle),
            0x0E: (["address", "address", "uint256"], self._take),
        }
        for action, content in zip(actions, parameters, strict=True):
            types, handle = handlers[action]
            fields = decode(types, content)
            assert encode(types, fields) == content
            handle(*fields)
        assert not any(self.v4_debts.values())

    def _v4_single(self, swap: Sequence[Any]) -> None:
        (currency0, currency1, *pool), zero_for_one, amount, minimum, *rest = swap
        assert minimum == 0
        assert rest in ([b""], [0, b""])
        currencies = (currency0, currency1) if zero_for_one else (currency1, currency0)
        self._v4_hops(currencies[0], [(currencies[1], *pool)], amount)

    def _v4_path(self, swap: Sequence[Any]) -> None:
        currency_in, path, *prices, amount, minimum = swap
        assert minimum == 0
        assert prices in ([], [()])
        assert all(data == b"" for *_, data in path)
        self._v4_hops(currency_in, [key[:-1] for key in path], amount)

    def _v4_hops(self, currency: str, path: Sequence[tuple[str, int, int, str]], amount: int) -> None:
        amount = amount or -self.v4_debts[currency]
        self.v4_debts[currency] += amount
        for currency_out, fee_ppm, spacing, hooks in path:
            assert hooks == ZERO_ADDRESS
            pool = self._v4_pool(currency, currency_out, fee_ppm, spacing)
            token_in, token_out = (self._to_wrapped(each) for each in (currency, currency_out))
            amount, currency = self._swap(pool, token_in, token_out, amount), currency_out
        self.v4_debts[currency] -= amount

    def _v4_pool(self, currency_in: str, currency_out: str, fee_ppm: int, spacing: int) -> Pool:
        key = {"fee": fee_ppm, "tickSpacing": spacing, "token0": min(currency_in, currency_out)}
        key["token1"] = max(currency_in, currency_out)
        (pool,) = (pool for pool in self.pools.values() if key.items() <= pool.api_extra_data().items())
        return pool

    def _to_wrapped(self, currency: str) -> str:
        return self.wrapped if currency == ZERO_ADDRESS else currency

    def _settle(self, currency: str, amount: int, pulls: bool) -> None:
        amount = amount or self.v4_debts[currency]
        assert not (pulls and currency == ZERO_ADDRESS)
        self.v4_debts[currency] -= self._spend(currency, amount, pulls)

    def _take(self, currency: str, recipient: str, amount: int) -> None:
        assert (recipient, amount) == (ROUTER, 0)
        self.balances[currency] -= self.v4_debts.pop(currency)

    def _pull(self, token: str, recipient: str, amount: int) -> None:
        assert recipient == ROUTER
        self.caller[token] += amount
        self.balances[token] += amount

    def _wrap(self, recipient: str, amount: int) -> None:
        assert recipient == ROUTER
        self.balances[self.wrapped] += self._spend(ZERO_ADDRESS, amount, False)

    def _unwrap(self, recipient: str, minimum: int) -> None:
        amount = self._spend(self.wrapped, CONTRACT_BALANCE, False)
        assert amount >= minimum
        if recipient == ROUTER:
            self.balances[ZERO_ADDRESS] += amount
        else:
            self.paid[recipient, ZERO_ADDRESS] += amount

    def _pay_fee(self, token: str, recipient: str, bps: int) -> None:
        fee = self.balances[token] * bps // 10_000
        self.balances[token] -= fee
        self.paid[recipient, token] += fee

    def _sweep(self, token: str, recipient: str, minimum: int) -> None:
        amount = self._spend(token, CONTRACT_BALANCE, False)
        assert amount >= minimum
        self.paid[recipient, token] += amount
