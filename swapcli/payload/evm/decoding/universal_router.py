"""Decode `execute` of Universal Routers: `(bytes commands, bytes[] inputs)`, with or without a deadline.

The commands move the router's balances, so the order is derived from the sender's payment, the router's payments and
their recipients, and the final balances.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from swapcli.core.encoding.abi import ADDRESS_BYTES, WORD, invalid_field
from swapcli.core.model.decoded_call import (
    SENDER,
    WHOLE_E18,
    DecodedApproval,
    DecodedCall,
    DecodedOrder,
    DecodedSwap,
    PoolHint,
)
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.swap_terms import NO_DEADLINE_S
from swapcli.core.model.units import E18_PER_BPS, PPM
from swapcli.core.networks.pool_addresses import v4_pool_id
from swapcli.core.records import NamedTuple
from swapcli.payload.evm.basic_calls import V3_FEE_BYTES
from swapcli.payload.evm.decoding.arguments import Arguments
from swapcli.payload.evm.decoding.router_ledger import RouterLedger
from swapcli.payload.evm.decoding.router_run import ALL, RouterRun
from swapcli.payload.evm.universal_router.commands import (
    CONTRACT_BALANCE,
    MAY_FAIL,
    ROUTER,
    V4_ENCODINGS,
    V4_SETTLE,
    V4_SWAP_PATH,
    V4_SWAP_SINGLE,
    V4_TAKE,
    V4Encoding,
)
from swapcli.payload.evm.universal_router.plan import V2, V3, V4

_SINGLE_WITHOUT_PRICE: Final = 9 * WORD
_PATH_WITHOUT_PRICES: Final = 4 * WORD
_SWAP_WITHOUT_PRICES: Final = 5 * WORD
_HOOK_DATA: Final = 8  # word of the offset of `hookData` in a swap without a price
_MAX_SWEPT: Final = (1 << 160) - 1
"""Releases before 2.1.1 drop the remaining bits of a sweep's minimum."""
_MAX_DEPTH: Final = 8  # a bound against hostile input; chosen
_MAX_COMMANDS: Final = 4_096
"""The maximum number of commands: more than fit a transaction, since nested plans could name the same bytes
repeatedly."""


def decode_execute(
    arguments: bytes, wrapped: str | None, value: int | None = None, *, has_deadline: bool = True
) -> DecodedCall:
    """Decode the arguments of `execute`; `value` is the transaction's value in wei, None if unknown.

    Raises `InvalidInput` if they are incomplete or do not describe a swap.
    """
    words = Arguments(arguments)
    codes, inputs = words.content(0, "commands"), list(words.contents(1, "inputs"))
    deadline_s = words.uint(2, "deadline") if has_deadline else NO_DEADLINE_S
    if len(codes) != len(inputs):
        raise invalid_field("inputs", f"{len(inputs)} for {len(codes)} commands")
    reader = _CommandReader(RouterLedger(wrapped, value), RouterRun(value or 0))
    for code, content in zip(codes, inputs, strict=True):
        reader.read(code, content)
    read = reader.ledger.order(reader.swaps, None if deadline_s == NO_DEADLINE_S else deadline_s)
    return DecodedCall(
        "execute",
        order=read.order and reader.enforce(read.order, read.sold, read.bought),
        swaps=tuple(reader.swaps),
        fee=read.fee,
        payments=read.payments,
        permit=reader.permit,
        releases=reader.releases,
        oddities=(*reader.oddities, *read.oddities),
        trailing_bytes=len(arguments) - words.end,
    )


class _PoolSwap(NamedTuple):
    """A swap along a V4 path: at most `amount_in` for at least `amount_out`; 0 means the amount that the router has
    settled."""

    tokens: Sequence[str]
    pools: Sequence[PoolHint]
    amount_in: int
    amount_out: int
    is_exact_out: bool


class _CommandReader:
    """Collects the content of the commands in one call."""

    def __init__(self, ledger: RouterLedger, run: RouterRun) -> None:
        self.ledger, self.run = ledger, run
        self.swaps: list[DecodedSwap] = []
        self.permit: DecodedApproval | None = None
        self.oddities: list[str] = []
        self.releases = tuple(V4_ENCODINGS)  # the releases that encode all V4 swaps like this call
        self._exact_outs: list[bool] = []
        self._depth, self._count = 0, 0

    def enforce(self, order: DecodedOrder, sold: Collection[str], bought: str) -> DecodedOrder:
        """Return an order with the minimum that the router enforces, and with the amounts that its parts state as well.

        `sold` and `bought` are the currencies that the order sells and buys.
        """
        received = self.run.received(order.recipient, bought)
        if bought not in sold:
            received = max(0, received - self.run.pulled([bought]))  # the sender's payment in it is not a gain
        paid = self.run.pulled(sold)
        return order._replace(
            min_received=received,
            promised_received=order.min_received if received < order.min_received else None,
            max_amount_in=paid if paid > order.amount_in else None,
            is_exact_out=bool(self._exact_outs) and all(self._exact_outs),
        )

    def read(self, code: int, content: bytes) -> None:
        """Read a command. An unknown one is an oddity."""
        self._count += 1
        if self._count > _MAX_COMMANDS:
            raise invalid_field("commands", f"more than {_MAX_COMMANDS}")
        read = _COMMANDS.get(code & ~MAY_FAIL)
        if read is None:
            self.oddities.append(f"command 0x{code:02x} is not used in swaps, and its effect is unknown")
            self.run.forget_balances()
            return
        without = self.run.copy() if code & MAY_FAIL else None
        if code & MAY_FAIL and read is not _CommandReader._permit:
            self.oddities.append(f"command 0x{code:02x} may fail without stopping the rest")
        arguments = Arguments(content)
        read(self, arguments)
        if without is not None:
            self.run.join(without)
        if len(content) != arguments.end:
            self.oddities.append(f"command 0x{code:02x} has {len(content) - arguments.end} more bytes than it reads")

    def _add_path(
        self, tokens: Sequence[str], pools: Sequence[PoolHint], amount_in: int | None, *, is_exact_out: bool = False
    ) -> None:
        if amount_in is not None:
            self._exact_outs.append(is_exact_out)
        for number, pool in enumerate(pools):
            is_start = number == 0 and amount_in is not None
            share = None if is_start else PPM
            self.swaps.append(
                DecodedSwap(tokens[number], tokens[number + 1], pool, share, amount_in if is_start else None)
            )

    def _swap(
        self, arguments: Arguments, tokens: Sequence[str], pools: Sequence[PoolHint], *, is_exact_out: bool
    ) -> None:
        recipient, pulls = arguments.address(0, "recipient"), arguments.uint(4, "payer", 8)
        amount_in, amount_out = arguments.uint(1, "amount"), arguments.uint(2, "limit")
        if is_exact_out:
            amount_in, amount_out = amount_out, amount_in
        token_in, token_out = tokens[0], tokens[-1]
        spends_balance = amount_in == CONTRACT_BALANCE and not is_exact_out
        spent = ALL if spends_balance else amount_in
        self.run.swap(token_in, token_out, spent, amount_out, recipient, pulls=bool(pulls))
        is_v2 = pools[0].kind == V2
        if is_v2 and not pulls and (spends_balance or not amount_in):
            pair = self.ledger.take_prepaid(token_in)
            if pair is not None:
                pools = [pools[0]._replace(key=pair), *pools[1:]]
                spends_balance = True
            else:
                self.ledger.spend(token_in, ALL)
        elif pulls and spends_balance:
            self.oddities.append("the sender pays the router's whole balance")
            self.ledger.pull(token_in, 0)
        elif pulls:
            self.ledger.pull(token_in, amount_in)
        else:
            self.ledger.spend(token_in, ALL if spends_balance else amount_in, is_maximum=is_exact_out)
        if recipient == ROUTER:
            self.ledger.receive(token_out, None, amount_out)
        else:
            self.ledger.pay(token_out, recipient, amount_out)
        self._add_path(tokens, pools, None if spends_balance else amount_in, is_exact_out=is_exact_out)

    def _v3(self, arguments: Arguments, *, is_exact_out: bool = False) -> None:
        path = arguments.content(3, "path")
        self._read_prices(arguments)
        step = ADDRESS_BYTES + V3_FEE_BYTES
        if len(path) < step + ADDRESS_BYTES or (len(path) - ADDRESS_BYTES) % step:
            raise invalid_field("path", f"{len(path)} bytes cannot be a path of tokens and fees")
        tokens = [f"0x{path[k : k + ADDRESS_BYTES].hex()}" for k in range(0, len(path), step)]
        fees = [int.from_bytes(path[k : k + V3_FEE_BYTES]) for k in range(ADDRESS_BYTES, len(path), step)]
        if is_exact_out:  # the path of an exact output begins with the bought token
            tokens, fees = tokens[::-1], fees[::-1]
        self._swap(arguments, tokens, [PoolHint(kind=V3, tier=fee) for fee in fees], is_exact_out=is_exact_out)

    def _v3_exact_out(self, arguments: Arguments) -> None:
        self._v3(arguments, is_exact_out=True)

    def _v2(self, arguments: Arguments, *, is_exact_out: bool = False) -> None:
        tokens = arguments.addresses(3, "path")
        self._read_prices(arguments)
        if len(tokens) < 2:
            raise invalid_field("path", "fewer than two tokens")
        self._swap(arguments, tokens, [PoolHint(kind=V2)] * (len(tokens) - 1), is_exact_out=is_exact_out)

    def _v2_exact_out(self, arguments: Arguments) -> None:
        self._v2(arguments, is_exact_out=True)

    @staticmethod
    def _read_prices(arguments: Arguments) -> None:
        """Skip the minimum prices of the hops, which calls for routers before 2.1.1 lack."""
        if arguments.uint(3, "path offset") != _SWAP_WITHOUT_PRICES:
            arguments.skip_list(5)

    # --- V4

    def _v4(self, arguments: Arguments) -> None:
        actions, contents = arguments.content(0, "actions"), list(arguments.contents(1, "params"))
        if len(actions) != len(contents):
            raise invalid_field("params", f"{len(contents)} for {len(actions)} actions")
        steps = [(action, Arguments(content)) for action, content in zip(actions, contents, strict=True)]
        swaps = [self._v4_swap(action, words.nested(0, "swap")) for action, words in steps if action in _V4_SWAPS]
        owed, due, maxima = dict[str, int](), dict[str, int](), set[str]()
        for swap in swaps:
            token_in, token_out = swap.tokens[0], swap.tokens[-1]
            owed[token_in] = owed.get(token_in, 0) + swap.amount_in
            due[token_out] = due.get(token_out, 0) + swap.amount_out
            if swap.is_exact_out:
                maxima.add(token_in)
        settled: dict[str, int] = {}
        for action, words in steps:
            if action in (V4_SETTLE, _V4_SETTLE_ALL):
                token, amount = self._v4_settle(action, words, owed, maxima)
                settled[token] = amount
            elif action in _V4_TAKES:
                self._v4_take(action, words, due)
            elif action not in _V4_SWAPS:
                self.oddities.append(f"action 0x{action:02x} is not used in V4 swaps")
        self._run_v4(steps, swaps)
        for swap in swaps:
            amount = swap.amount_in or settled.get(swap.tokens[0], 0)
            self._add_path(swap.tokens, swap.pools, amount or None, is_exact_out=swap.is_exact_out)

    def _run_v4(self, steps: Sequence[tuple[int, Arguments]], swaps: Sequence[_PoolSwap]) -> None:
        """Run the actions in order, including the swaps among them."""
        run, remaining = self.run, iter(swaps)
        for action, words in steps:
            if action in _V4_SWAPS:
                swap = next(remaining)
                if swap.is_exact_out:
                    run.v4_exact_out(swap.tokens[0], swap.amount_in)
                else:
                    run.v4_swap(swap.tokens[0], swap.tokens[-1], swap.amount_in or ALL, swap.amount_out)
                continue
            token = words.address(0, "currency")
            if action == V4_SETTLE:
                amount, pulls = words.uint(1, "amount"), bool(words.uint(2, "payer", 8))
                if amount == CONTRACT_BALANCE:
                    run.v4_settle_balance(token, pulls=pulls)
                else:
                    run.v4_settle(token, amount or ALL, pulls=pulls)
            elif action == _V4_SETTLE_ALL:
                run.v4_settle_up_to(token, words.uint(1, "maximum"))
            elif action == _V4_TAKE_ALL:
                run.v4_take_all(token, words.uint(1, "minimum"))
            elif action == V4_TAKE:
                run.v4_take(token, words.address(1, "recipient"), words.uint(2, "amount") or ALL)
            elif action == _V4_TAKE_SHARE:
                share_e18 = words.uint(2, "share") * E18_PER_BPS
                run.v4_take_share(token, words.address(1, "recipient"), share_e18)
            else:
                run.forget_balances()
        run.end_v4()

    def _v4_settle(self, action: int, words: Arguments, owed: Mapping[str, int], maxima: set[str]) -> tuple[str, int]:
        """Read a payment by the router or the sender to the pools; return its token and its amount (0 if unknown)."""
        token, amount = words.address(0, "currency"), words.uint(1, "amount")
        pulls = action == _V4_SETTLE_ALL or bool(words.uint(2, "payer", 8))
        if action == _V4_SETTLE_ALL:
            amount = min(amount, owed.get(token) or amount)
        is_balance = amount == CONTRACT_BALANCE
        amount = 0 if is_balance else amount or owed.get(token, 0)
        if pulls and not self.ledger.is_native(token):
            if is_balance:
                self.oddities.append("the sender pays the router's whole balance")
            self.ledger.pull(token, amount)
        else:
            self.ledger.spend(token, ALL if is_balance else amount, is_maximum=token in maxima)
        return token, amount

    def _v4_take(self, action: int, words: Arguments, due: dict[str, int]) -> None:
        """Read a payment by the pools to the router, the sender or anyone else."""
        token = words.address(0, "currency")
        if action == _V4_TAKE_ALL:
            self.ledger.pay(token, SENDER, max(words.uint(1, "minimum"), due.pop(token, 0)))
            return
        recipient, amount = words.address(1, "recipient"), words.uint(2, "amount")
        if action == _V4_TAKE_SHARE:
            share_e18 = amount * E18_PER_BPS
            share = due.get(token, 0) * min(share_e18, WHOLE_E18) // WHOLE_E18
            due[token] = due.get(token, 0) - share
            if recipient == ROUTER:
                self.ledger.receive(token, None, share)
            else:
                self.ledger.note_share(token, recipient, share_e18)
            return
        minimum = amount or due.pop(token, 0)
        if amount and token in due:
            due[token] = max(0, due[token] - amount)
        if recipient == ROUTER:
            self.ledger.receive(token, amount or None, minimum)
        else:
            self.ledger.pay(token, recipient, minimum)

    def _v4_swap(self, action: int, swap: Arguments) -> _PoolSwap:
        is_exact_out = action in (_V4_SINGLE_EXACT_OUT, _V4_PATH_EXACT_OUT)
        is_single = action in (V4_SWAP_SINGLE, _V4_SINGLE_EXACT_OUT)
        tokens, pools, first, second = self._v4_single(swap) if is_single else self._v4_path(swap, is_exact_out)
        amount_in, amount_out = (second, first) if is_exact_out else (first, second)
        return _PoolSwap(tokens, pools, amount_in, amount_out, is_exact_out)

    def _v4_single(self, swap: Arguments) -> tuple[Sequence[str], Sequence[PoolHint], int, int]:
        currencies = swap.address(0, "currency0"), swap.address(1, "currency1")
        is_forward = bool(swap.uint(5, "direction", 8))
        has_price = swap.uint(_HOOK_DATA, "hook data offset") != _SINGLE_WITHOUT_PRICE
        self._keep_releases(lambda encoding: encoding.prices_in_single == has_price)
        if swap.content(_HOOK_DATA + has_price, "hook data"):
            self.oddities.append("a V4 pool's hook receives data")
        tokens = currencies if is_forward else currencies[::-1]
        hooks = swap.address(4, "hooks")
        pool = self._v4_pool(currencies, swap.uint(2, "fee", 24), swap.signed(3, "tick spacing"), hooks)
        return tokens, [pool], swap.uint(6, "amount", 128), swap.uint(7, "limit", 128)

    def _v4_path(self, swap: Arguments, is_exact_out: bool) -> tuple[Sequence[str], Sequence[PoolHint], int, int]:
        has_prices = swap.uint(1, "path offset") != _PATH_WITHOUT_PRICES
        self._keep_releases(lambda encoding: encoding.prices_in_path == has_prices)
        if has_prices:
            swap.skip_list(2)
        keys = list(swap.tuples(1, "path"))
        if not keys:
            raise invalid_field("path", "no pools")
        tokens = [key.address(0, "currency") for key in keys]
        end = swap.address(0, "currency")
        # For an exact input, each key names the token after its pool; for an exact output, the token before it.
        tokens = [*tokens, end] if is_exact_out else [end, *tokens]
        pools = []
        for number, key in enumerate(keys):
            if key.content(4, "hook data"):
                self.oddities.append("a V4 pool's hook receives data")
            pair, hooks = (tokens[number], tokens[number + 1]), key.address(3, "hooks")
            pools.append(self._v4_pool(pair, key.uint(1, "fee", 24), key.signed(2, "tick spacing"), hooks))
        return tokens, pools, swap.uint(2 + has_prices, "amount", 128), swap.uint(3 + has_prices, "limit", 128)

    def _keep_releases(self, is_so: Callable[[V4Encoding], bool]) -> None:
        self.releases = tuple(each for each in self.releases if is_so(V4_ENCODINGS[each]))

    @staticmethod
    def _v4_pool(currencies: tuple[str, str], fee_ppm: int, spacing: int, hooks: str) -> PoolHint:
        if spacing < 0:
            raise invalid_field("tick spacing", "below zero")
        return PoolHint(v4_pool_id(*currencies, fee_ppm, spacing, hooks), V4, fee_ppm)

    # --- payments

    def _pull(self, arguments: Arguments) -> None:
        token, recipient = arguments.address(0, "token"), arguments.address(1, "recipient")
        amount = arguments.uint(2, "amount", 160)
        self.ledger.pull(token, amount)
        self.run.pull(token, recipient, amount)
        if recipient == ROUTER:
            self.ledger.receive(token, amount, 0)
        else:
            self.ledger.pay(token, recipient, 0)

    def _sweep(self, arguments: Arguments) -> None:
        token, recipient = arguments.address(0, "token"), arguments.address(1, "recipient")
        minimum = arguments.uint(2, "minimum")
        if minimum > _MAX_SWEPT:
            self.oddities.append("the minimum of a sweep has more bits than the router reads")
        self.run.sweep(token, recipient, minimum & _MAX_SWEPT)
        self.ledger.sweep(token, recipient, minimum)

    def _transfer(self, arguments: Arguments) -> None:
        token, recipient, amount = (
            arguments.address(0, "token"), arguments.address(1, "recipient"), arguments.uint(2, "amount")
        )  # fmt: skip
        if amount == CONTRACT_BALANCE:
            self.run.sweep(token, recipient, 0)
            self.ledger.sweep(token, recipient, 0)
        else:
            self.run.transfer(token, recipient, amount)
            self.ledger.transfer(token, recipient, amount)

    def _pay_share(self, arguments: Arguments, e18_per_unit: int = E18_PER_BPS) -> None:
        token, recipient = arguments.address(0, "token"), arguments.address(1, "recipient")
        share_e18 = arguments.uint(2, "share") * e18_per_unit
        self.run.pay_share(token, recipient, share_e18)
        self.ledger.pay_share(token, recipient, share_e18)

    def _pay_precise_share(self, arguments: Arguments) -> None:
        self._pay_share(arguments, 1)

    def _wrap(self, arguments: Arguments) -> None:
        recipient, amount = arguments.address(0, "recipient"), arguments.uint(1, "amount")
        amount = ALL if amount == CONTRACT_BALANCE else amount
        self.ledger.wrap(None if recipient == ROUTER else recipient, amount)
        self.run.convert(ZERO_ADDRESS, self.ledger.wrapped, recipient, amount)

    def _unwrap(self, arguments: Arguments) -> None:
        recipient, minimum = arguments.address(0, "recipient"), arguments.uint(1, "minimum")
        self.ledger.unwrap(None if recipient == ROUTER else recipient, minimum)
        self.run.convert(self.ledger.wrapped, ZERO_ADDRESS, recipient, ALL, minimum)

    @staticmethod
    def _check_balance(arguments: Arguments) -> None:
        """Read a check of a balance, which moves nothing."""
        arguments.address(0, "owner")
        arguments.address(1, "token")
        arguments.uint(2, "minimum")

    def _plan(self, arguments: Arguments) -> None:
        """Read a nested plan: its commands run in its place."""
        self.oddities.append("the plan contains a plan")
        codes, inputs = arguments.content(0, "commands"), list(arguments.contents(1, "inputs"))
        if len(codes) != len(inputs):
            raise invalid_field("inputs", f"{len(inputs)} for {len(codes)} commands")
        if self._depth == _MAX_DEPTH:
            self.oddities.append(f"plans are nested more than {_MAX_DEPTH} deep")
            self.run.forget_balances()
            return
        self._depth += 1
        for code, content in zip(codes, inputs, strict=True):
            self.read(code, content)
        self._depth -= 1

    def _permit(self, arguments: Arguments) -> None:
        if self.permit is not None:
            self.oddities.append("several permits are used")
        self.permit = DecodedApproval(
            token=arguments.address(0, "token"),
            spender=arguments.address(4, "spender"),
            amount=arguments.uint(1, "amount", 160),
            expiration_s=arguments.uint(2, "expiration", 48),
            deadline_s=arguments.uint(5, "deadline"),
        )
        arguments.content(6, "signature")


# The other actions of v4-periphery, `Actions.sol`.
_V4_SINGLE_EXACT_OUT, _V4_PATH_EXACT_OUT = 0x08, 0x09
_V4_SWAPS: Final = frozenset({V4_SWAP_SINGLE, V4_SWAP_PATH, _V4_SINGLE_EXACT_OUT, _V4_PATH_EXACT_OUT})
_V4_SETTLE_ALL, _V4_TAKE_ALL, _V4_TAKE_SHARE = 0x0C, 0x0F, 0x10
_V4_TAKES: Final = frozenset({V4_TAKE, _V4_TAKE_ALL, _V4_TAKE_SHARE})
_COMMANDS: Final[Mapping[int, Callable[[_CommandReader, Arguments], None]]] = MappingProxyType(
    {
        0x00: _CommandReader._v3,
        0x01: _CommandReader._v3_exact_out,
        0x02: _CommandReader._pull,
        0x04: _CommandReader._sweep,
        0x05: _CommandReader._transfer,
        0x06: _CommandReader._pay_share,
        0x07: _CommandReader._pay_precise_share,
        0x08: _CommandReader._v2,
        0x09: _CommandReader._v2_exact_out,
        0x0A: _CommandReader._permit,
        0x0B: _CommandReader._wrap,
        0x0C: _CommandReader._unwrap,
        0x0E: lambda reader, arguments: reader._check_balance(arguments),
        0x10: _CommandReader._v4,
        0x21: _CommandReader._plan,
    }
)
"""The commands of swaps; quotes do not use the routers' other commands."""
