"""A model of 0x Settler: decodes its calldata with eth_abi and executes the actions on pools.

It follows the published source (github 0xProject/0x-settler): shares of the balance, pools that are derived instead of
named, the minimum of the whole swap. The bytecode of the real contract is in no package, so it never runs here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from eth_abi.abi import decode, encode

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from tests.support.outside_ids import keccak256

NATIVE = "0x" + "ee" * 20
SIGNATURES = {
    "exec": "exec(address,address,uint256,address,bytes)",
    "execute": "execute((address,address,uint256),bytes[],bytes32)",
    "TRANSFER_FROM": "TRANSFER_FROM(address,((address,uint256),uint256,uint256),bytes)",
    "NATIVE_CHECK": "NATIVE_CHECK(uint256,uint256)",
    "UNISWAPV2": "UNISWAPV2(address,address,uint256,address,uint24,uint256)",
    "UNISWAPV3": "UNISWAPV3(address,uint256,bytes,uint256)",
    "UNISWAPV4": "UNISWAPV4(address,address,uint256,bool,uint256,uint256,bytes,uint256)",
    "DODOV2": "DODOV2(address,address,uint256,address,bool,uint256)",
    "MAVERICKV2": "MAVERICKV2(address,address,uint256,address,bool,int32,uint256)",
    "BASIC": "BASIC(address,uint256,address,uint256,bytes)",
    "exchange": "exchange(int128,int128,uint256,uint256)",
    "swap": "swap((bytes32,uint8,address,address,uint256,bytes),(address,bool,address,bool),uint256,uint256)",
    "withdraw": "withdraw(uint256)",
    "transfer": "transfer(address,uint256)",
}
LOWEST, HIGHEST = 4295128739 + 1, 1461446703485210103287273052203988822378723970342 - 1


def selector(name: str) -> bytes:
    """Return the selector of a function of `SIGNATURES`."""
    return keccak256(SIGNATURES[name].encode())[:4]


_NAMES = {selector(name): name for name in SIGNATURES}


class Function(NamedTuple):
    """A decoded call: the name of the function and its arguments; addresses in lower case."""

    name: str
    arguments: tuple[Any, ...]


def decode_function(data: bytes) -> Function:
    """Decode a call, and check that its encoding is the one of eth_abi."""
    name = _NAMES[data[:4]]
    types = _split_types(SIGNATURES[name])
    values = decode(types, data[4:])
    assert encode(types, values) == data[4:]
    return Function(name, values)


def _split_types(signature: str) -> list[str]:
    """Return the types of a signature's parameters."""
    types, depth = [""], 0
    for character in signature[signature.index("(") + 1 : -1]:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and not depth:
            types.append("")
        else:
            types[-1] += character
    return types


class Payment(NamedTuple):
    """What a call pays out: to the recipient of the output, and to others by (token, account)."""

    recipient: str
    token: str
    received: int
    others: dict[tuple[str, str], int]


class RevertError(Exception):
    """The contract would revert."""


class SettlerModel:
    """Settler at an address, with its balances. `forks` has the protocol of each number of a fork."""

    def __init__(
        self, address: str, allowance_holder: str, wrapped: str, pools: Iterable[Pool], forks: dict[int, str]
    ) -> None:
        self.address, self.allowance_holder, self.wrapped, self.forks = address, allowance_holder, wrapped, forks
        self.pools = {pool.key: pool for pool in pools}
        self.by_id = {_id_of(pool): pool.key for pool in self.pools.values() if pool.family == "concentrated"}
        self.balances: Counter[str] = Counter()
        self.prepaid: Counter[str] = Counter()
        self.others: Counter[tuple[str, str]] = Counter()
        self.used: list[str] = []

    def call(self, to: str, data: bytes, value: int, time_s: int) -> Payment:
        """Execute a transaction of a sender that has approved AllowanceHolder."""
        allowed: tuple[str, int] = ("", 0)
        if to == self.allowance_holder:
            function = decode_function(data)
            operator, token, amount, target, data = function.arguments
            assert (function.name, operator, target, value) == ("exec", self.address, self.address, 0)
            allowed = (token, amount)
        else:
            assert to == self.address
        self.balances[NATIVE] += value
        function = decode_function(data)
        (recipient, buy_token, minimum), actions, _ = function.arguments
        assert function.name == "execute"
        for number, action in enumerate(actions):
            self._act(number, decode_function(action), allowed, value, time_s)
        received = self.balances.pop(buy_token, 0)
        if received < minimum:
            raise RevertError(f"TooMuchSlippage({received})")
        return Payment(recipient, buy_token, received, dict(self.others))

    @property
    def left(self) -> dict[str, int]:
        """What is left in the contract."""
        return {token: amount for token, amount in self.balances.items() if amount}

    def _act(self, number: int, action: Function, allowed: tuple[str, int], value: int, time_s: int) -> None:
        arguments: tuple[Any, ...] = action.arguments
        if action.name == "TRANSFER_FROM":
            recipient, ((token, amount), nonce, deadline), signature = arguments
            assert (number, nonce, signature) == (0, 0, b"")
            assert (token, amount) == allowed
            if time_s > deadline:
                raise RevertError("SignatureExpired")
            if recipient == self.address:
                self.balances[token] += amount
            else:
                self.prepaid[recipient] += amount
        elif action.name == "NATIVE_CHECK":
            deadline, limit = arguments
            assert limit == value
            if time_s > deadline:
                raise RevertError("SignatureExpired")
        else:
            getattr(self, f"_{action.name.lower()}")(*arguments)

    def _take(self, token: str, bps: int) -> int:
        amount = self.balances[token] * bps // 10_000
        self.balances[token] -= amount
        return amount

    def _trade(self, key: str, sold: str, bought: str, amount: int) -> int:
        """Sell to a pool, in which native currency is listed in its wrapped form."""
        listed_in, listed_out = (self.wrapped if token == NATIVE else token for token in (sold, bought))
        amount_out, self.pools[key] = self.pools[key].swap(listed_in, listed_out, amount)
        self.used.append(key)
        self.balances[bought] += amount_out
        return amount_out

    def _uniswapv2(self, recipient: str, sold: str, bps: int, address: str, info: int, minimum: int) -> None:
        assert (recipient, minimum, info & 2) == (self.address, 0, 0)
        pool = self.pools[address]
        is_forward, fee_bps = bool(info & 1), info >> 8
        assert pool.tokens[0 if is_forward else 1] == sold
        bought = pool.tokens[1 if is_forward else 0]
        amount = self._take(sold, bps) if bps else self.prepaid.pop(address)
        reserves: Any = pool.state()["reserves"]
        x, y = map(int, reserves)
        x, y = (x, y) if is_forward else (y, x)
        after_fee = amount * (10_000 - fee_bps)
        amount_out = after_fee * y // (after_fee + x * 10_000)
        at_most, self.pools[address] = pool.swap(sold, bought, amount)
        assert amount_out <= at_most
        self.used.append(address)
        self.balances[bought] += amount_out

    def _uniswapv3(self, recipient: str, bps: int, path: bytes, minimum: int) -> None:
        assert (recipient, minimum, len(path)) == (self.address, 0, 64)
        sold, bought = "0x" + path[:20].hex(), "0x" + path[44:].hex()
        assert int.from_bytes(path[24:44]) == (LOWEST if sold < bought else HIGHEST)
        fork, pool_id = self.forks[path[20]], int.from_bytes(path[21:24])
        key = self.by_id[fork, frozenset((sold, bought)), pool_id, ""]
        self._trade(key, sold, bought, self._take(sold, bps))

    def _uniswapv4(
        self, recipient: str, sold: str, bps: int, taxed: bool, mul: int, mod: int, fills: bytes, minimum: int
    ) -> None:
        assert (recipient, minimum, taxed) == (self.address, 0, False)
        assert 0 < min(mul, mod) <= max(mul, mod) < 2**128 // 96
        bought = "0x" + fills[23:43].hex()
        assert len({int(token, 16) * mul % mod % 8 for token in (sold, bought)}) == 2
        currencies = [ZERO_ADDRESS if token == NATIVE else token for token in (sold, bought)]
        assert (fills[:2], fills[22:23]) == ((10_000).to_bytes(2), b"\1")
        assert int.from_bytes(fills[2:22]) == (LOWEST if currencies[0] < currencies[1] else HIGHEST)
        fee, spacing = int.from_bytes(fills[43:46]), int.from_bytes(fills[46:49], signed=True)
        hooks = "0x" + fills[49:69].hex()
        assert (hooks, fills[69:]) == (ZERO_ADDRESS, bytes(3))
        pool_key = (*sorted(currencies), fee, spacing, hooks)
        pool_id = keccak256(encode(["address", "address", "uint24", "int24", "address"], pool_key))
        self._trade("0x" + pool_id.hex(), sold, bought, self._take(sold, bps))

    def _dodov2(self, recipient: str, sold: str, bps: int, address: str, sells_quote: bool, minimum: int) -> None:
        assert (recipient, minimum) == (self.address, 0)
        tokens = self.pools[address].tokens
        assert tokens[sells_quote] == sold
        amount = self._take(sold, bps) if bps else self.prepaid.pop(address)
        self._trade(address, sold, tokens[not sells_quote], amount)

    def _maverickv2(
        self, recipient: str, sold: str, bps: int, address: str, sells_a: bool, limit: int, minimum: int
    ) -> None:
        assert (recipient, minimum) == (self.address, 0)
        assert limit == (2**31 - 1 if sells_a else -(2**31))
        pool = self.pools[address]
        token_in, token_out = pool.tokens if sells_a else pool.tokens[::-1]
        assert token_in == sold
        self._trade(address, sold, token_out, self._take(sold, bps))

    def _basic(self, sold: str, bps: int, pool: str, offset: int, data: bytes) -> None:
        amount = self._take(sold, bps)
        if not data:
            assert (sold, offset) == (NATIVE, 0)
            if pool == self.wrapped:
                self.balances[self.wrapped] += amount
            else:
                self.others[NATIVE, pool] += amount
            return
        assert data[offset : offset + 32] == bytes(32)
        called = decode_function(data[:offset] + amount.to_bytes(32) + data[offset + 32 :])
        arguments: tuple[Any, ...] = called.arguments
        if called.name == "withdraw":
            assert (pool, sold, arguments) == (self.wrapped, self.wrapped, (amount,))
            self.balances[NATIVE] += amount
        elif called.name == "transfer":
            recipient, paid = arguments
            assert (pool, paid) == (sold, amount)
            self.others[sold, str(recipient)] += amount
        elif called.name == "exchange":
            i, j, dx, least = arguments
            assert (dx, least) == (amount, 0)
            tokens = self.pools[pool].tokens
            assert tokens[i] == sold
            self._trade(pool, sold, tokens[j], amount)
        else:
            self._vault_swap(called, sold, amount)

    def _vault_swap(self, called: Function, sold: str, amount: int) -> None:
        assert called.name == "swap"
        (pool_id, kind, asset_in, asset_out, value, user_data), funds, limit, _ = called.arguments
        assert (kind, asset_in, value, user_data, limit) == (0, sold, amount, b"", 0)
        assert funds == (self.address, False, self.address, False)
        key = "0x" + pool_id[:20].hex()
        self._trade(key, sold, asset_out, amount)


def _id_of(pool: Pool) -> tuple[str, frozenset[str], int, str]:
    """Return what identifies a pool of a fork of Uniswap V3 or, with its id, of Uniswap V4."""
    traits = pool.api_extra_data()
    key = "tickSpacing" if pool.protocol in ("aerodromeV3", "kittenSwapV3") else "fee"
    return pool.protocol, frozenset(pool.tokens), int(traits[key]), str(traits.get("poolId", ""))
