"""A Universal Router in Python between hostile pools, which pay anything that its checks allow.

It reads calldata with eth_abi and executes it as Uniswap's `Dispatcher.sol` and `V4Router.sol` do, without any code of
the decoder. `random_program` writes calldata that often executes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from eth_abi.abi import decode, encode

SENDER, ROUTER = "0x" + "1".zfill(40), "0x" + "2".zfill(40)
NATIVE, WETH = "0x" + "0" * 40, "0x42" + "0" * 37 + "6"
A, B, C = ("0x" + digit * 40 for digit in "abc")
FRIEND = "0x" + "f" * 40
BALANCE = 1 << 255
POOL_KEY = "(address,address,uint24,int24,address)"
PATH_KEY = "(address,uint24,int24,address,bytes)"
SINGLE = f"({POOL_KEY},bool,uint128,uint128,bytes)"
PATH = f"(address,{PATH_KEY}[],uint128,uint128)"
SWAP = ["address", "uint256", "uint256", "bytes", "bool"]
PAIRS = ["address", "uint256", "uint256", "address[]", "bool"]
PAYMENT = ["address", "address", "uint256"]
Command = tuple[int, bytes]


class RevertedError(Exception):
    """The call changes nothing."""


def require(condition: object) -> None:
    if not condition:
        raise RevertedError


class HostileRouter:
    """Executes one call. `received` counts what recipients get, `spent` what the sender pays without the value.

    `dust` lies in the router before. Pools pay the minimum or a little more; some stop early, and take less.
    """

    def __init__(self, rng: Random, dust: dict[str, int]) -> None:
        self.rng, self.balances, self.deltas = rng, Counter(dust), Counter[str]()
        self.received, self.spent = Counter[tuple[str, str]](), Counter[str]()

    def execute(self, calldata: str, value: int) -> None:
        """Raise `RevertedError`, or carry the call out."""
        codes, inputs, _ = decode(["bytes", "bytes[]", "uint256"], bytes.fromhex(calldata[10:]))
        self.balances[NATIVE] += value
        self._run(codes, inputs)

    def _run(self, codes: bytes, inputs: Sequence[bytes]) -> None:
        for code, content in zip(codes, inputs, strict=True):
            state = Counter(self.balances), Counter(self.received), Counter(self.spent)
            try:
                require(not (code & 0x80 and self.rng.random() < 0.3))
                self._command(code & 0x7F, content)
            except RevertedError:
                if not code & 0x80:
                    raise
                self.balances, self.received, self.spent = state
                self.deltas = Counter()

    def _command(self, code: int, content: bytes) -> None:
        handlers: dict[int, tuple[list[str], Callable[..., None]]] = {
            0x00: (SWAP, lambda *fields: self._swap(*fields, exact_out=False)),
            0x01: (SWAP, lambda *fields: self._swap(*fields, exact_out=True)),
            0x02: (PAYMENT, self._pull),
            0x04: (PAYMENT, self._sweep),
            0x05: (PAYMENT, self._transfer),
            0x06: (PAYMENT, self._pay_share),
            0x08: (PAIRS, lambda *fields: self._swap(*fields, exact_out=False)),
            0x09: (PAIRS, lambda *fields: self._swap(*fields, exact_out=True)),
            0x0B: (["address", "uint256"], self._wrap),
            0x0C: (["address", "uint256"], self._unwrap),
            0x10: (["bytes", "bytes[]"], self._v4),
            0x21: (["bytes", "bytes[]"], self._run),
        }
        types, handle = handlers[code]
        handle(*decode(types, content))

    def _pay(self, token: str, recipient: str, amount: int) -> None:
        if recipient == ROUTER:
            self.balances[token] += amount
        else:
            self.received[recipient, token] += amount

    def _take(self, token: str, amount: int) -> int:
        amount = self.balances[token] if amount == BALANCE else amount
        require(amount <= self.balances[token])
        self.balances[token] -= amount
        return amount

    def _output(self, minimum: int) -> int:
        return minimum + self.rng.choice((0, 0, 0, 1, 5, 50))

    def _part(self, amount: int) -> int:
        """Return how much of its input a pool takes."""
        return amount if self.rng.random() < 0.8 else self.rng.randint(0, amount)

    def _swap(self, recipient: str, first: int, second: int, path: Any, pulls: bool, *, exact_out: bool) -> None:
        if isinstance(path, bytes):
            path = [f"0x{path[k : k + 20].hex()}" for k in range(0, len(path), 23)]
            path = path[::-1] if exact_out else path
        token_in, token_out = path[0], path[-1]
        amount_in, paid = (self._part(second), first) if exact_out else (first, self._output(second))
        if not exact_out and amount_in == BALANCE:
            amount_in = self.balances[token_in]
        if pulls:
            self.spent[token_in] += amount_in
        else:
            self._take(token_in, amount_in)
        self._pay(token_out, recipient, paid)

    def _pull(self, token: str, recipient: str, amount: int) -> None:
        self.spent[token] += amount
        self._pay(token, recipient, amount)

    def _sweep(self, token: str, recipient: str, minimum: int) -> None:
        amount = self._take(token, BALANCE)
        require(amount >= minimum % (1 << 160))
        self._pay(token, recipient, amount)

    def _transfer(self, token: str, recipient: str, amount: int) -> None:
        self._pay(token, recipient, self._take(token, amount))

    def _pay_share(self, token: str, recipient: str, bips: int) -> None:
        require(bips <= 10_000)
        self._pay(token, recipient, self._take(token, self.balances[token] * bips // 10_000))

    def _wrap(self, recipient: str, amount: int) -> None:
        self._pay(WETH, recipient, self._take(NATIVE, amount))

    def _unwrap(self, recipient: str, minimum: int) -> None:
        amount = self._take(WETH, BALANCE)
        require(amount >= minimum)
        self._pay(NATIVE, recipient, amount)

    def _v4(self, actions: bytes, contents: Sequence[bytes]) -> None:
        handlers: dict[int, tuple[list[str], Callable[..., None]]] = {
            0x06: ([SINGLE], lambda swap: self._v4_single(*swap, exact_out=False)),
            0x07: ([PATH], lambda swap: self._v4_path(*swap, exact_out=False)),
            0x08: ([SINGLE], lambda swap: self._v4_single(*swap, exact_out=True)),
            0x09: ([PATH], lambda swap: self._v4_path(*swap, exact_out=True)),
            0x0B: (["address", "uint256", "bool"], self._settle),
            0x0C: (["address", "uint256"], self._settle_all),
            0x0E: (PAYMENT, self._v4_take),
            0x0F: (["address", "uint256"], self._take_all),
            0x10: (PAYMENT, self._take_share),
        }
        for action, content in zip(actions, contents, strict=True):
            types, handle = handlers[action]
            handle(*decode(types, content))
        require(not any(self.deltas.values()))

    def _v4_single(self, key: Any, forward: bool, first: int, second: int, _: bytes, *, exact_out: bool) -> None:
        token_in, token_out = key[:2] if forward else key[1::-1]
        self._v4_swap(token_in, token_out, first, second, exact_out=exact_out)

    def _v4_path(self, end: str, keys: Any, first: int, second: int, *, exact_out: bool) -> None:
        tokens = [*(key[0] for key in keys), end] if exact_out else [end, *(key[0] for key in keys)]
        self._v4_swap(tokens[0], tokens[-1], first, second, exact_out=exact_out)

    def _v4_swap(self, token_in: str, token_out: str, first: int, second: int, *, exact_out: bool) -> None:
        if exact_out:
            amount_out = first or self._debt(token_out)
            require(amount_out)
            self.deltas[token_out] += self._part(amount_out)
            self.deltas[token_in] -= self._part(second)
        else:
            amount_in = first or self._credit(token_in)
            require(amount_in)
            self.deltas[token_in] -= self._part(amount_in)
            self.deltas[token_out] += self._output(second)

    def _debt(self, token: str) -> int:
        require(self.deltas[token] <= 0)
        return -self.deltas[token]

    def _credit(self, token: str) -> int:
        require(self.deltas[token] >= 0)
        return self.deltas[token]

    def _settle(self, token: str, amount: int, pulls: bool) -> None:
        amount = self.balances[token] if amount == BALANCE else amount or self._debt(token)
        if pulls and token != NATIVE:
            self.spent[token] += amount
        else:
            self._take(token, amount)
        self.deltas[token] += amount

    def _settle_all(self, token: str, maximum: int) -> None:
        require(self._debt(token) <= maximum)
        if self._debt(token):
            self._settle(token, 0, True)

    def _v4_take(self, token: str, recipient: str, amount: int) -> None:
        amount = amount or self._credit(token)
        self.deltas[token] -= amount
        self._pay(token, recipient, amount)

    def _take_all(self, token: str, minimum: int) -> None:
        require(self._credit(token) >= minimum)
        self._v4_take(token, SENDER, 0)

    def _take_share(self, token: str, recipient: str, bips: int) -> None:
        amount = self._credit(token) * bips // 10_000
        self.deltas[token] -= amount
        self._pay(token, recipient, amount)


# --- calldata


def execute(commands: Sequence[Command]) -> str:
    """Return the calldata of `execute`, which never expires soon."""
    codes, inputs = bytes(code for code, _ in commands), [content for _, content in commands]
    return "0x3593564c" + encode(["bytes", "bytes[]", "uint256"], [codes, inputs, 1_900_000_000]).hex()


def plan(commands: Sequence[Command]) -> Command:
    """Return a command that executes others."""
    codes, inputs = bytes(code for code, _ in commands), [content for _, content in commands]
    return 0x21, encode(["bytes", "bytes[]"], [codes, inputs])


def v3(
    recipient: str, first: int, second: int, tokens: Sequence[str], pulls: bool = True, exact_out: bool = False
) -> Command:
    """Swap through pools of fee 500; the amounts are those of the command."""
    tokens = tokens[::-1] if exact_out else tokens
    path = bytes.fromhex("0001f4".join(token[2:] for token in tokens))
    return int(exact_out), encode([*SWAP, "uint256[]"], [recipient, first, second, path, pulls, []])


def v2(
    recipient: str, first: int, second: int, tokens: Sequence[str], pulls: bool = True, exact_out: bool = False
) -> Command:
    """Swap through pairs."""
    return 8 + int(exact_out), encode([*PAIRS, "uint256[]"], [recipient, first, second, tokens, pulls, []])


def v4(*actions: Command) -> Command:
    """Run actions of V4."""
    return 0x10, encode(["bytes", "bytes[]"], [bytes(code for code, _ in actions), [each for _, each in actions]])


def v4_swap(
    token_in: str, token_out: str, first: int, second: int, *, exact_out: bool = False, as_path: bool = False
) -> Command:
    """Swap in one pool of fee 500 without a hook."""
    if as_path:
        end, other = (token_out, token_in) if exact_out else (token_in, token_out)
        keys = [(other, 500, 10, NATIVE, b"")]
        return 7 + 2 * exact_out, encode([PATH], [(end, keys, first, second)])
    key = (*sorted((token_in, token_out)), 500, 10, NATIVE)
    return 6 + 2 * exact_out, encode([SINGLE], [(key, token_in < token_out, first, second, b"")])


def settle(token: str, amount: int, pulls: bool) -> Command:
    return 0x0B, encode(["address", "uint256", "bool"], [token, amount, pulls])


def settle_all(token: str, maximum: int) -> Command:
    return 0x0C, encode(["address", "uint256"], [token, maximum])


def take(token: str, recipient: str, amount: int = 0) -> Command:
    return 0x0E, encode(PAYMENT, [token, recipient, amount])


def take_all(token: str, minimum: int) -> Command:
    return 0x0F, encode(["address", "uint256"], [token, minimum])


def take_share(token: str, recipient: str, bips: int) -> Command:
    return 0x10, encode(PAYMENT, [token, recipient, bips])


def pull(token: str, recipient: str, amount: int) -> Command:
    return 0x02, encode(PAYMENT, [token, recipient, amount])


def sweep(token: str, recipient: str, minimum: int) -> Command:
    return 0x04, encode(PAYMENT, [token, recipient, minimum])


def transfer(token: str, recipient: str, amount: int) -> Command:
    return 0x05, encode(PAYMENT, [token, recipient, amount])


def pay_share(token: str, recipient: str, bips: int) -> Command:
    return 0x06, encode(PAYMENT, [token, recipient, bips])


def wrap(recipient: str, amount: int) -> Command:
    return 0x0B, encode(["address", "uint256"], [recipient, amount])


def unwrap(recipient: str, minimum: int) -> Command:
    return 0x0C, encode(["address", "uint256"], [recipient, minimum])


# --- random programs


def random_program(rng: Random) -> list[Command]:
    """Return commands that often execute, for a value of 1,000."""
    commands = [_random_command(rng) for _ in range(rng.randint(1, 5))]
    swept = rng.sample((NATIVE, WETH, A, B, C), rng.randint(0, 3))
    commands += [sweep(token, rng.choice((SENDER, FRIEND)), rng.choice((0, 0, 3, 1 << 160 | 3))) for token in swept]
    if rng.random() < 0.1:
        at = rng.randrange(len(commands))
        commands[at:] = [plan(commands[at:])]
    return [(code | 0x80 * (rng.random() < 0.05), content) for code, content in commands]


def _random_command(rng: Random) -> Command:
    token, other = rng.sample((WETH, A, B, C), 2)
    recipient = rng.choice((ROUTER, ROUTER, SENDER, FRIEND))
    amount, minimum = rng.choice((BALANCE, 10, 30, 100)), rng.choice((0, 1, 20, 90))
    pulls = rng.random() < 0.5 and amount != BALANCE
    kind = rng.choice(("v4", "v4", "v4", "swap", "swap", "pull", "sweep", "transfer", "share", "wrap", "unwrap"))
    if kind == "v4":
        return _random_v4(rng)
    if kind == "swap":
        exact_out = rng.random() < 0.3 and amount != BALANCE
        tokens = [token, rng.choice((A, B, C)), other] if rng.random() < 0.2 else [token, other]
        return rng.choice((v2, v3))(recipient, amount, minimum, tokens, pulls, exact_out)
    if kind == "pull":
        return pull(token, recipient, rng.choice((10, 100)))
    if kind == "sweep":
        return sweep(token, recipient, minimum)
    if kind == "transfer":
        return transfer(token, recipient, rng.choice((1, 10)))
    if kind == "share":
        return pay_share(token, recipient, rng.choice((1, 500, 3_333, 10_000)))
    return wrap(recipient, amount) if kind == "wrap" else unwrap(recipient, minimum)


def _random_v4(rng: Random) -> Command:
    tokens = (NATIVE, A, B, C) if rng.random() < 0.5 else (A, B)
    actions: list[Command] = []
    for _ in range(rng.randint(1, 4)):
        (token, other), first = rng.sample(tokens, 2), rng.choice((0, 1, 19, 20, 100))
        exact_out, as_path, second = rng.random() < 0.2, rng.random() < 0.3, rng.choice((0, 1, 20, 90))
        actions.append(v4_swap(token, other, first, second, exact_out=exact_out, as_path=as_path))
        if rng.random() < 0.3:
            actions.append(_random_action(rng, rng.choice(tokens)))
    for token in tokens:
        settles = settle_all(token, 10_000) if rng.random() < 0.5 else settle(token, 0, rng.random() < 0.7)
        takes = take_all(token, 0) if rng.random() < 0.5 else take(token, rng.choice((ROUTER, SENDER, FRIEND)))
        actions += rng.choice(([settles], [takes], [takes, settles], [settles, takes], []))
    return v4(*actions)


def _random_action(rng: Random, token: str) -> Command:
    recipient, amount = rng.choice((ROUTER, SENDER, FRIEND)), rng.choice((0, 1, 10, 25))
    return rng.choice(
        (
            take(token, recipient, amount),
            take_share(token, recipient, rng.choice((1, 5_000, 10_000))),
            settle(token, rng.choice((0, 5, 100, BALANCE)), rng.random() < 0.5),
            settle_all(token, rng.choice((10, 1_000))),
            take_all(token, rng.choice((0, 1, 20))),
        )
    )
