"""Random programs for Universal Routers: honest plans of many styles, walks over pools, and what attackers change.

Nothing here looks at the decoder: an honest plan is one that pays what it says, by construction, and a hostile one has
the same commands in another order, with other amounts, payers and recipients.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, Final, NamedTuple

from swapcli.core.model.order import ZERO_ADDRESS
from tests.chain.trader import INTEGRATOR, USER
from tests.payload.evm.programs.program import Program
from tests.payload.evm.programs.universal_plans import (
    CHECK_BALANCE,
    CONTRACT_BALANCE,
    MAY_FAIL,
    PATH_IN,
    PATH_OUT,
    PAY_SHARE,
    PERMIT,
    PERMIT_BATCH,
    PULL,
    PULL_BATCH,
    ROUTER,
    SENDER,
    SETTLE,
    SETTLE_ALL,
    SINGLE_IN,
    SINGLE_OUT,
    SUB_PLAN,
    SWAPS,
    SWEEP,
    TAKE,
    TAKE_ALL,
    TAKE_SHARE,
    TRANSFER,
    UNWRAP,
    V2_IN,
    V2_OUT,
    V3_IN,
    V3_OUT,
    V4,
    V4_SWAPS,
    WRAP,
    Action,
    Command,
    encode_plan,
)
from tests.payload.evm.programs.venues import Trial, Venue, Venues
from tests.payload.evm.programs.world import RECIPIENT, STRANGERS, UNIVERSAL_2_1, ProgramWorld

_LATEST: Final = 2**256 - 1
_GENERATIONS: Final = {"uniswapV2": V2_IN, "uniswapV3": V3_IN, "uniswapV4": V4}


class UniversalPlan(NamedTuple):
    """Commands with the value that is sent and the recipient that the user means, None for the sender.

    `is_for_other_release` encodes V4 paths as the other release does.
    """

    commands: tuple[Command, ...]
    value: int
    recipient: str | None = None
    deadline_s: int | None = _LATEST
    is_for_other_release: bool = False


class _Hop(NamedTuple):
    venue: Venue
    sold: str
    bought: str


class _Order(NamedTuple):
    """What a braid sells, and what it should have of the bought currency in the end."""

    start: str
    end: str
    amount: int
    have: int
    recipient: str


class UniversalPrograms:
    """Makes programs for one release, from random numbers alone."""

    def __init__(self, world: ProgramWorld, target: str) -> None:
        self.target, self.router = target, world.universal[target].address
        self.deadline_s = world.deadline_s
        self._has_path_prices = target == UNIVERSAL_2_1
        self._venues = Venues(world, frozenset(_GENERATIONS))
        self.wrapped = self._venues.wrapped
        self._pairs = [each.contract.address for each in world.places if each.protocol == "uniswapV2"]
        self._addresses = (
            *(ROUTER, ROUTER, SENDER, SENDER, USER, RECIPIENT, INTEGRATOR, *STRANGERS),
            *(self.router, world.manager.address, ZERO_ADDRESS),
        )

    def encode(self, plan: UniversalPlan, origin: str) -> Program:
        """Return the transaction of a plan."""
        has_prices = self._has_path_prices != plan.is_for_other_release
        calldata = encode_plan(plan.commands, plan.deadline_s, has_path_prices=has_prices)
        return Program(self.target, self.router, plan.value, calldata, origin, plan.recipient)

    def honest(self, rng: Random) -> UniversalPlan:
        """Return a plan that keeps its promise, in one of the styles in which programs build them."""
        style = rng.choice(
            (self._in_one_family, self._in_one_family, self._through_router, self._v4_only, self._exact_out)
        )
        while True:
            plan = style(rng)
            if plan is not None:
                return plan._replace(deadline_s=self.deadline_s if rng.random() < 0.9 else None)

    def hostile(self, rng: Random) -> UniversalPlan:
        """Return a plan of an attacker."""
        makers = (self._braid, self._walk, self._cycle, self._drained, self.honest)
        (make,) = rng.choices(makers, (40, 15, 12, 3, 30))
        plan = make(rng)
        few, many = (0, 0, 0, 1, 1, 2), (0, 1, 1, 1, 2, 2, 3, 5)
        for _ in range(rng.choice(few if make == self._braid else many) or make == self.honest):
            plan = self._changed(rng, plan)
        return plan._replace(is_for_other_release=rng.random() < 0.03)

    # --- honest plans

    def _path(self, rng: Random, currency: str, length: int, generation: str | None = None) -> list[_Hop] | None:
        """Return hops from a currency, none of which comes back to one before, or to its wrapped form."""
        forms = {ZERO_ADDRESS, self.wrapped}
        seen, hops = ({*forms} if currency in forms else {currency}), list[_Hop]()
        for _ in range(length):
            near = [
                _Hop(venue, currency, other)
                for venue in self._venues.selling(currency, generation)
                for other in venue.others(currency)
                if other not in seen
            ]
            if not near:
                return hops or None
            hops.append(rng.choice(near))
            currency = hops[-1].bought
            seen.add(currency)
        return hops

    def _paid(self, hops: Sequence[_Hop], amount: int, trial: Trial | None = None) -> int:
        trial = trial or Trial(self._venues)
        for hop in hops:
            amount = trial.swap(*hop, amount)
        return amount

    def _recipient(self, rng: Random) -> tuple[str, str | None]:
        """Return a recipient as a plan has it, and the one that the user means."""
        return rng.choice(((SENDER, None), (SENDER, None), (USER, None), (RECIPIENT, RECIPIENT)))

    def _slipped(self, rng: Random, amount: int) -> int:
        return amount - amount * rng.choice((0, 1, 5, 10, 50)) // 1_000

    def _swap(
        self, rng: Random, hops: Sequence[_Hop], amount: int, minimum: int, recipient: str, *, pulls: bool
    ) -> Command:
        """Return the command of hops of V2 or V3."""
        tokens = [hops[0].sold, *(hop.bought for hop in hops)]
        has_prices = self._has_path_prices or rng.random() < 0.5
        if hops[0].venue.protocol == "uniswapV2":
            return Command(V2_IN, (recipient, amount, minimum, tokens, pulls), has_prices)
        return Command(V3_IN, (recipient, amount, minimum, _v3_path(tokens, hops), pulls), has_prices)

    def _in_one_family(self, rng: Random) -> UniversalPlan | None:
        """Swap through pools of V2 or V3, directly to the recipient, or with the native currency."""
        start = rng.choice((*self._venues.tokens, ZERO_ADDRESS))
        spent = self.wrapped if start == ZERO_ADDRESS else start
        amount, (recipient, meant) = self._venues.random_amount(rng, spent), self._recipient(rng)
        commands, pulls = list[Command](), start != ZERO_ADDRESS
        if not pulls:
            commands.append(Command(WRAP, (ROUTER, amount)))
        trial, unwraps = Trial(self._venues), rng.random() < 0.5
        parts = [amount] if rng.random() < 0.7 else [amount // 3, amount - amount // 3]
        end = None
        for part in parts:
            hops = self._path(rng, spent, rng.choice((1, 1, 2)), rng.choice(("uniswapV2", "uniswapV3")))
            if not hops or (end and hops[-1].bought != end):
                return None
            end = hops[-1].bought
            paid = self._paid(hops, part, trial)
            if not paid:
                return None
            is_unwrapped = unwraps and end == self.wrapped
            sold = CONTRACT_BALANCE if not pulls and len(parts) == 1 and rng.random() < 0.5 else part
            to, minimum = (ROUTER if is_unwrapped else recipient), self._slipped(rng, paid)
            commands.append(self._swap(rng, hops, sold, 0 if is_unwrapped else minimum, to, pulls=pulls))
            if is_unwrapped:
                commands.append(Command(UNWRAP, (recipient, minimum)))
        return UniversalPlan(tuple(commands), 0 if pulls else amount, meant)

    def _through_router(self, rng: Random) -> UniversalPlan | None:
        """Swap by legs of any generation, to the router, which pays once in the end."""
        start = rng.choice((*self._venues.tokens, ZERO_ADDRESS))
        amount, (recipient, meant) = self._venues.random_amount(rng, start), self._recipient(rng)
        hops = self._path(rng, start, rng.choice((1, 2, 3)))
        if not hops:
            return None
        commands, sold = list[Command](), amount
        pulls = start != ZERO_ADDRESS
        if pulls and rng.random() < 0.3:
            commands.append(Command(PULL, (start, ROUTER, amount)))
            pulls = False
        for hop in hops:
            if hop.venue.protocol == "uniswapV4":
                commands.append(self._v4_leg(rng, [hop], sold, ROUTER, 0, pulls=pulls))
            else:
                commands.append(self._swap(rng, [hop], sold, 0, ROUTER, pulls=pulls))
            sold, pulls = CONTRACT_BALANCE, False
        paid = self._paid(hops, amount)
        if not paid:
            return None
        end = hops[-1].bought
        if rng.random() < 0.3:
            bps = rng.randint(1, 100)
            commands.append(Command(PAY_SHARE, (end, INTEGRATOR, bps)))
            paid -= paid * bps // 10_000
        minimum = self._slipped(rng, paid)
        commands.append(Command(SWEEP, (end, recipient, minimum)))
        return UniversalPlan(tuple(commands), amount if start == ZERO_ADDRESS else 0, meant)

    def _v4_leg(
        self, rng: Random, hops: Sequence[_Hop], amount: int, recipient: str, minimum: int, *, pulls: bool
    ) -> Command:
        """Return a V4 swap between what the router, or the sender, has, and a recipient."""
        first, last = hops[0].sold, hops[-1].bought
        spends_balance = amount == CONTRACT_BALANCE
        swap = _v4_swap(rng, hops, 0 if spends_balance else amount, minimum)
        if spends_balance:
            settle = Action(SETTLE, (first, CONTRACT_BALANCE, pulls))
            return _v4((settle, swap, Action(TAKE, (last, recipient, 0))))
        settle = Action(SETTLE, (first, rng.choice((0, amount)), pulls))
        order = rng.choice(((swap, settle), (settle, swap))) if settle.fields[1] else (swap, settle)
        return _v4((*order, Action(TAKE, (last, recipient, 0))))

    def _v4_only(self, rng: Random) -> UniversalPlan | None:
        """Swap through pools of V4 in the actions that wallets use."""
        start = rng.choice((*self._venues.tokens, ZERO_ADDRESS))
        amount, (recipient, meant) = self._venues.random_amount(rng, start), self._recipient(rng)
        hops = self._path(rng, start, rng.choice((1, 1, 2, 3)), "uniswapV4")
        paid = self._paid(hops, amount) if hops else 0
        if not hops or not paid:
            return None
        minimum, value = self._slipped(rng, paid), amount if start == ZERO_ADDRESS else 0
        last = hops[-1].bought
        if recipient in (SENDER, USER) and rng.random() < 0.7:
            actions = (
                _v4_swap(rng, hops, amount, minimum),
                Action(SETTLE_ALL, (start, amount)),
                Action(TAKE_ALL, (last, minimum)),
            )
            return UniversalPlan((_v4(actions),), value)
        command = self._v4_leg(rng, hops, amount, recipient, minimum, pulls=True)
        return UniversalPlan((command,), value, meant)

    def _exact_out(self, rng: Random) -> UniversalPlan | None:
        """Buy an exact amount for a maximum."""
        start = rng.choice(self._venues.tokens)
        generation = rng.choice(tuple(_GENERATIONS))
        maximum, (recipient, meant) = self._venues.random_amount(rng, start), self._recipient(rng)
        hops = self._path(rng, start, rng.choice((1, 1, 2)), generation)
        paid = self._paid(hops, maximum) if hops else 0
        if not hops or paid < 100:
            return None
        wanted = paid * 99 // 100
        tokens, last = [start, *(hop.bought for hop in hops)], hops[-1].bought
        if generation == "uniswapV4":
            swap = _v4_exact_out(rng, hops, wanted, maximum)
            taken = Action(TAKE, (last, recipient, wanted))  # a pool without liquidity pays less, and does not revert
            return UniversalPlan((_v4((swap, Action(SETTLE, (start, 0, True)), taken)),), 0, meant)
        if generation == "uniswapV2":
            fields: tuple[Any, ...] = (recipient, wanted, maximum, tokens, True)
            return UniversalPlan((Command(V2_OUT, fields, self._has_path_prices),), 0, meant)
        path = _v3_path(tokens[::-1], hops[::-1])
        return UniversalPlan(
            (Command(V3_OUT, (recipient, wanted, maximum, path, True), self._has_path_prices),), 0, meant
        )

    # --- hostile plans

    def _braid(self, rng: Random) -> UniversalPlan:
        """Sell all of one token for another in several strands, with detours of what is bought, and minimums anywhere.

        Nothing is left over, and everything goes to one recipient, so that much of it passes.
        """
        while True:
            start = rng.choice((*self._venues.tokens, ZERO_ADDRESS))
            hops = self._path(rng, start, rng.choice((1, 1, 2)), rng.choice((None, "uniswapV4")))
            if hops:
                break
        end, (recipient, meant) = hops[-1].bought, self._recipient(rng)
        amount, trial = self._venues.random_amount(rng, start), Trial(self._venues)
        shares = rng.choice(((1,), (1, 1), (3, 1), (1, 1, 2)))
        parts = [amount * share // sum(shares) for share in shares]
        parts[-1] += amount - sum(parts)
        strands = [hops, *(self._strand(rng, start, end) or hops for _ in parts[1:])]
        is_v4 = all(hop.venue.protocol == "uniswapV4" for strand in strands for hop in strand)
        in_one = is_v4 and rng.random() < 0.8
        actions, commands = list[Action](), list[Command]()
        have, pulls = 0, start != ZERO_ADDRESS
        if pulls and not in_one and rng.random() < 0.3:
            commands.append(Command(PULL, (start, ROUTER, amount)))
            pulls = False
        for strand, part in zip(strands, parts, strict=True):
            paid = self._paid(strand, part, trial)
            have += paid
            minimum = rng.choice((0, paid, self._slipped(rng, paid), self._slipped(rng, paid)))
            if in_one:
                actions.append(_v4_swap(rng, strand, part, minimum))
                continue
            spent, payer = part, pulls
            for k, hop in enumerate(strand):
                is_last = k == len(strand) - 1
                to = rng.choice((ROUTER, ROUTER, recipient)) if is_last else ROUTER
                commands.append(self._leg(rng, hop, spent, minimum if is_last else 0, to, pulls=payer))
                spent, payer = CONTRACT_BALANCE, False
        for _ in range(rng.choice((0, 1, 1, 2))):
            detour = self._strand(rng, end, end, "uniswapV4" if in_one else None)
            part = rng.choice((have // 3, have - 1, have // 2, have * 9 // 10))
            if detour and part > 0:
                back = self._paid(detour, part, trial)
                have += back - part
                minimum = rng.choice((0, 0, back, self._slipped(rng, back)))
                if in_one:
                    actions += self._v4_detour(rng, detour, part, minimum)
                else:
                    commands.append(self._leg(rng, detour[0], part, 0, ROUTER, pulls=False))
                    commands.append(self._leg(rng, detour[1], CONTRACT_BALANCE, minimum, ROUTER, pulls=False))
        commands += self._end_of_braid(rng, actions, _Order(start, end, amount, max(have, 0), recipient))
        return UniversalPlan(tuple(commands), amount if start == ZERO_ADDRESS else 0, meant)

    def _v4_detour(self, rng: Random, hops: Sequence[_Hop], amount: int, minimum: int) -> list[Action]:
        if rng.random() < 0.5:
            return [_v4_swap(rng, hops, amount, minimum)]
        return [_v4_swap(rng, hops[:1], amount, 0), _v4_swap(rng, hops[1:], 0, minimum)]

    def _end_of_braid(self, rng: Random, swaps: Sequence[Action], order: _Order) -> Iterator[Command]:
        """Yield the V4 command with the swaps, if there are any, and the payment of all that was bought."""
        start, end, amount, have, recipient = order
        least = rng.choice((0, 0, have, self._slipped(rng, have), have // 2))
        if not swaps:
            yield Command(SWEEP, (end, recipient, least))
            return
        settle = rng.choice((Action(SETTLE, (start, 0, True)), Action(SETTLE_ALL, (start, amount))))
        take = rng.choice((
            Action(TAKE, (end, rng.choice((recipient, ROUTER)), 0)),
            Action(TAKE, (end, recipient, have)),
            Action(TAKE_ALL, (end, least)),
        ))  # fmt: skip
        at = rng.randint(0, len(swaps)) if rng.random() < 0.2 else len(swaps)
        yield _v4((*swaps[:at], settle, *swaps[at:], take))
        if ROUTER in take.fields or rng.random() < 0.1:
            yield Command(SWEEP, (end, recipient, least))

    def _strand(self, rng: Random, start: str, end: str, generation: str | None = None) -> list[_Hop] | None:
        """Return one or two hops between tokens, two if they are the same."""
        for _ in range(8):
            first = self._path(rng, start, 1, generation)
            if not first or first[0].bought == end:
                if first and start != end:
                    return first
                continue
            middle = first[0].bought
            there = [each for each in self._venues.selling(middle, generation) if end in each.currencies]
            if there:
                return [*first, _Hop(rng.choice(there), middle, end)]
        return None

    def _drained(self, rng: Random) -> UniversalPlan:
        """Buy more from V4 pools than they have: an exact output of V4 is paid in part, and does not revert."""
        hops = None
        while not hops:
            start = rng.choice((*self._venues.tokens, ZERO_ADDRESS))
            hops = self._path(rng, start, rng.choice((1, 1, 2)), "uniswapV4")
        last = hops[-1].bought
        amount, wanted = (10_000 * self._venues.random_amount(rng, each) for each in (start, last))
        swap = _v4_exact_out(rng, hops, wanted, amount)
        if start == ZERO_ADDRESS:
            amount = min(amount, 10**24)
        settle = rng.choice((Action(SETTLE, (start, 0, True)), Action(SETTLE_ALL, (start, amount))))
        take = rng.choice((Action(TAKE, (last, rng.choice((SENDER, USER, ROUTER)), 0)), Action(TAKE_ALL, (last, 0))))
        commands = [_v4((swap, settle, take))]
        if rng.random() < 0.5:
            commands.append(Command(SWEEP, (last, rng.choice((SENDER, USER)), rng.choice((0, 0, wanted)))))
        return UniversalPlan(tuple(commands), amount if start == ZERO_ADDRESS else 0)

    def _cycle(self, rng: Random) -> UniversalPlan:
        """Buy something for a minimum and sell most of it again, in one V4 swap or in several commands."""
        while True:
            start = rng.choice((*self._venues.tokens, ZERO_ADDRESS))
            first = self._path(rng, start, 1)
            if not first:
                continue
            (buys,) = first
            is_v4 = rng.random() < 0.7
            generation = "uniswapV4" if is_v4 else None
            there = [each for each in self._venues.selling(start, generation) if buys.bought in each.currencies]
            if there:
                break
        bought = buys.bought
        buys, sells = (_Hop(rng.choice(there), start, bought), _Hop(rng.choice(there), bought, start))
        amount, trial = self._venues.random_amount(rng, start), Trial(self._venues)
        paid = trial.swap(*buys, amount)
        minimum = self._slipped(rng, paid)
        again = max(0, rng.choice((minimum - 1, paid - 1, minimum, paid, paid // 2, minimum * 9 // 10)))
        back = trial.swap(*sells, again)
        dust = rng.choice((1, 1_000, max(1, amount // 10**6), back // 2, back))
        extra = _Hop(rng.choice(there), start, bought)
        if is_v4:
            swaps = [
                _v4_swap(rng, [buys], amount, minimum),
                _v4_swap(rng, [sells], again, rng.choice((0, 0, 0, back))),
                *([_v4_swap(rng, [extra], dust, 0)] if rng.random() < 0.7 else []),
            ]
            minima = rng.choice(((0, 0), (0, 0), (minimum, 0), (1, 0)))
            ends: list[Action] = [rng.choice((Action(SETTLE_ALL, (start, amount)), Action(SETTLE, (start, 0, True))))]
            for token, least in zip((bought, start), minima, strict=True):
                if rng.random() < 0.8:
                    take = Action(TAKE, (token, rng.choice((SENDER, USER, ROUTER)), 0))
                    ends.append(rng.choice((Action(TAKE_ALL, (token, least)), take)))
            if rng.random() < 0.2:
                rng.shuffle(swaps)
            commands = [_v4((*swaps, *ends))]
        else:
            commands = [
                self._leg(rng, buys, amount, minimum, ROUTER, pulls=start != ZERO_ADDRESS),
                self._leg(rng, sells, again, 0, rng.choice((ROUTER, SENDER)), pulls=False),
            ]
            if rng.random() < 0.4:
                commands.append(self._leg(rng, extra, dust, 0, rng.choice((ROUTER, SENDER)), pulls=False))
        for token in (bought, start):
            if rng.random() < (0.4 if is_v4 else 0.9):
                least = rng.choice((0, 0, minimum if token == bought else back))
                commands.append(Command(SWEEP, (token, rng.choice((SENDER, USER)), least)))
        return UniversalPlan(tuple(commands), amount if start == ZERO_ADDRESS else 0)

    def _leg(self, rng: Random, hop: _Hop, amount: int, minimum: int, recipient: str, *, pulls: bool) -> Command:
        if hop.venue.protocol == "uniswapV4":
            return self._v4_leg(rng, [hop], amount, recipient, minimum, pulls=pulls)
        return self._swap(rng, [hop], amount, minimum, recipient, pulls=pulls)

    def _walk(self, rng: Random) -> UniversalPlan:
        """Swap what the router has, step by step, in any direction, and pay out what is left."""
        start = rng.choice((*self._venues.tokens, ZERO_ADDRESS))
        amount, trial = self._venues.random_amount(rng, start), Trial(self._venues)
        recipient, meant = self._recipient(rng)
        have, commands = Counter({start: amount}), list[Command]()
        pulls = start != ZERO_ADDRESS
        if pulls and rng.random() < 0.4:
            commands.append(Command(PULL, (start, ROUTER, amount)))
            pulls = False
        for _ in range(rng.choice((1, 2, 2, 3, 3, 4, 6))):
            held = [token for token, balance in have.items() if balance > 0]
            if not held:
                break
            token = rng.choice(held)
            if rng.random() < 0.15 and token in (ZERO_ADDRESS, self.wrapped):
                part, other = have.pop(token), self.wrapped if token == ZERO_ADDRESS else ZERO_ADDRESS
                pays = rng.choice((ROUTER, ROUTER, recipient))
                is_wrap = token == ZERO_ADDRESS
                amount_field = rng.choice((CONTRACT_BALANCE, part)) if is_wrap else rng.choice((0, part))
                commands.append(Command(WRAP if is_wrap else UNWRAP, (pays, amount_field)))
                have[other] += part if pays == ROUTER else 0
                continue
            hops = self._path(rng, token, 1)
            if not hops:
                continue
            balance = have[token]
            part = rng.choice((balance, balance, balance // 2, balance - 1, max(1, balance // 1_000)))
            paid = trial.swap(*hops[0], part)
            have[token] -= part
            to = rng.choice((ROUTER, ROUTER, ROUTER, recipient, SENDER))
            field = CONTRACT_BALANCE if part == balance and not pulls and rng.random() < 0.6 else part
            minimum = rng.choice((0, 0, paid, self._slipped(rng, paid)))
            commands.append(self._leg(rng, hops[0], field, minimum, to, pulls=pulls and token == start))
            if to == ROUTER:
                have[hops[0].bought] += paid
        left = [token for token, balance in have.items() if balance > 0 and not (pulls and token == start)]
        for token in left:
            least = rng.choice((0, have[token], self._slipped(rng, have[token])))
            pay = rng.choice((recipient, recipient, recipient, SENDER))
            kind = rng.random()
            if kind < 0.7:
                commands.append(Command(SWEEP, (token, pay, least)))
            elif kind < 0.8:
                commands.append(Command(TRANSFER, (token, pay, rng.choice((have[token], CONTRACT_BALANCE, least)))))
            elif kind < 0.9 and token == self.wrapped:
                commands.append(Command(UNWRAP, (pay, least)))
            else:
                commands.append(Command(PAY_SHARE, (token, pay, rng.choice((10_000, 5_000, 100)))))
                commands.append(Command(SWEEP, (token, pay, 0)))
        return UniversalPlan(tuple(commands), amount if start == ZERO_ADDRESS else 0, meant)

    # --- changes

    def _changed(self, rng: Random, plan: UniversalPlan) -> UniversalPlan:
        changes: tuple[Callable[[Random, UniversalPlan], UniversalPlan], ...] = (
            self._reordered, self._reordered, self._with_command, self._with_command, self._with_command,
            self._with_field, self._with_field, self._with_field, self._with_field, self._with_actions,
            self._with_actions, self._with_flag, self._with_value, self._with_other_plan, self._nested,
        )  # fmt: skip
        return rng.choice(changes)(rng, plan)

    def _reordered(self, rng: Random, plan: UniversalPlan) -> UniversalPlan:
        commands = list(plan.commands)
        if commands:
            at = rng.randrange(len(commands))
            kind = rng.random()
            if kind < 0.3:
                commands.insert(rng.randint(0, len(commands)), commands[at])
            elif kind < 0.6:
                del commands[at]
            else:
                commands.insert(rng.randint(0, len(commands)), commands.pop(at))
        return plan._replace(commands=tuple(commands))

    def _with_command(self, rng: Random, plan: UniversalPlan) -> UniversalPlan:
        commands = list(plan.commands)
        commands.insert(rng.randint(0, len(commands)), self._random_command(rng, plan))
        return plan._replace(commands=tuple(commands))

    def _random_command(self, rng: Random, plan: UniversalPlan) -> Command:
        tokens, amounts = _mentioned(plan)
        token = rng.choice([*tokens, *tokens, *self._venues.tokens, ZERO_ADDRESS])
        amount = self._amount(rng, amounts)
        to = rng.choice(self._addresses)
        details = (token, 2**160 - 1, self.deadline_s, 0)
        kind = rng.randrange(14)
        if kind < 2:
            return Command(SWEEP, (token, to, rng.choice((0, 0, amount))))
        if kind < 4:
            return Command(
                rng.choice((TRANSFER, PAY_SHARE, 0x07, CHECK_BALANCE)), (token, to, rng.choice((amount, 100, 10_000)))
            )
        if kind == 4:
            return Command(rng.choice((WRAP, UNWRAP)), (to, amount))
        if kind == 5:
            return Command(PULL, (token, to, amount))
        if kind == 6:
            return Command(
                PERMIT | rng.choice((0, MAY_FAIL)),
                ((details, rng.choice((self.router, to)), self.deadline_s), bytes(65)),
            )
        if kind == 7:
            return rng.choice((
                Command(PERMIT_BATCH | MAY_FAIL, (([details], self.router, self.deadline_s), bytes(65))),
                Command(PULL_BATCH, ([(USER, to, amount % 2**160, token)],)),
                Command(rng.choice((0x11, 0x12, 0x13, 0x14, 0x0F, 0x22, 0x3F)), (rng.randbytes(68),)),
            ))  # fmt: skip
        hops = self._path(rng, token, rng.choice((1, 1, 2))) or self._path(rng, self.wrapped, 1)
        assert hops
        return self._leg(rng, hops[0], amount, rng.choice((0, amount)), to, pulls=rng.random() < 0.5)

    def _amount(self, rng: Random, amounts: Sequence[int]) -> int:
        amount = rng.choice([*amounts, self._venues.random_amount(rng, self.wrapped)])
        return rng.choice((
            amount, amount, amount - 1, amount + 1, amount // 2, amount * 2, 0, 1, CONTRACT_BALANCE, 2**128 - 1,
            _LATEST,
        )) % 2**256  # fmt: skip

    def _with_field(self, rng: Random, plan: UniversalPlan) -> UniversalPlan:
        """Change one field of one command or of one action."""
        commands = list(plan.commands)
        if not commands:
            return plan
        at = rng.randrange(len(commands))
        command = commands[at]
        _, amounts = _mentioned(plan)
        if command.kind == V4 and command.fields[0]:
            actions = list(command.fields[0])
            k = rng.randrange(len(actions))
            actions[k] = actions[k]._replace(fields=self._changed_fields(rng, actions[k].fields, amounts))
            commands[at] = _v4(tuple(actions))._replace(code=command.code)
        elif command.kind != SUB_PLAN:
            commands[at] = command._replace(fields=self._changed_fields(rng, command.fields, amounts))
        return plan._replace(commands=tuple(commands))

    def _changed_fields(self, rng: Random, fields: tuple[Any, ...], amounts: Sequence[int]) -> tuple[Any, ...]:
        at = rng.randrange(len(fields))
        field = fields[at]
        if isinstance(field, bool):
            changed: Any = not field
        elif isinstance(field, int):
            changed = self._amount(rng, [*amounts, field])
        elif isinstance(field, str):
            is_token = at == 0 and field in (*self._venues.tokens, ZERO_ADDRESS)
            changed = rng.choice((*self._venues.tokens, ZERO_ADDRESS) if is_token else (*self._addresses, *self._pairs))
        elif isinstance(field, list) and field and isinstance(field[0], str):
            changed = [*field]
            changed[rng.randrange(len(field))] = rng.choice(self._venues.tokens)
        elif isinstance(field, bytes) and len(field) >= 43:
            k = 23 * rng.randrange((len(field) - 20) // 23 + 1)
            changed = field[:k] + bytes.fromhex(rng.choice(self._venues.tokens)[2:]) + field[k + 20 :]
        else:
            changed = field
        return (*fields[:at], changed, *fields[at + 1 :])

    def _with_actions(self, rng: Random, plan: UniversalPlan) -> UniversalPlan:
        """Insert, remove, repeat or move actions of a V4 swap."""
        places = [k for k, each in enumerate(plan.commands) if each.kind == V4]
        if not places:
            return self._with_command(rng, plan)
        at = rng.choice(places)
        command = plan.commands[at]
        actions = list(command.fields[0])
        kind = rng.random()
        if actions and kind < 0.15:
            del actions[rng.randrange(len(actions))]
        elif actions and kind < 0.3:
            actions.insert(rng.randint(0, len(actions)), rng.choice(actions))
        elif actions and kind < 0.45:
            actions.insert(rng.randint(0, len(actions)), actions.pop(rng.randrange(len(actions))))
        else:
            actions.insert(rng.randint(0, len(actions)), self._random_action(rng, plan))
        changed = _v4(tuple(actions))._replace(code=command.code)
        return plan._replace(commands=(*plan.commands[:at], changed, *plan.commands[at + 1 :]))

    def _random_action(self, rng: Random, plan: UniversalPlan) -> Action:
        tokens, amounts = _mentioned(plan)
        token = rng.choice([*tokens, *tokens, *self._venues.tokens, ZERO_ADDRESS])
        amount, to = rng.choice((0, self._amount(rng, amounts))), rng.choice(self._addresses)
        kind = rng.randrange(8)
        if kind == 0:
            return Action(SETTLE, (token, amount, rng.random() < 0.5))
        if kind == 1:
            return Action(rng.choice((SETTLE_ALL, TAKE_ALL)), (token, amount))
        if kind == 2:
            return Action(TAKE, (token, to, amount))
        if kind == 3:
            return Action(TAKE_SHARE, (token, to, rng.choice((1, 100, 5_000, 10_000))))
        if kind == 4 and rng.random() < 0.3:
            return rng.choice((Action(0x12, (token,)), Action(0x13, (token, amount)), Action(0x14, (token, to))))
        hops = self._path(rng, token, rng.choice((1, 1, 2)), "uniswapV4") or self._path(
            rng, ZERO_ADDRESS, 1, "uniswapV4"
        )
        assert hops
        if rng.random() < 0.7:
            return _v4_swap(rng, hops, amount, rng.choice((0, 0, self._amount(rng, amounts))))
        return _v4_exact_out(rng, hops, amount, rng.choice((2**128 - 1, self._amount(rng, amounts))))

    def _with_flag(self, rng: Random, plan: UniversalPlan) -> UniversalPlan:
        commands = [each._replace(code=each.code ^ (MAY_FAIL if rng.random() < 0.3 else 0)) for each in plan.commands]
        return plan._replace(commands=tuple(commands))

    def _with_value(self, rng: Random, plan: UniversalPlan) -> UniversalPlan:
        _, amounts = _mentioned(plan)
        value = rng.choice((0, plan.value + 1, plan.value * 2, plan.value // 2, self._amount(rng, amounts)))
        return plan._replace(value=min(value, 10**24))

    def _with_other_plan(self, rng: Random, plan: UniversalPlan) -> UniversalPlan:
        other = rng.choice((self.honest, self._cycle, self._walk))(rng)
        commands = rng.choice(((*plan.commands, *other.commands), (*other.commands, *plan.commands)))
        return plan._replace(commands=commands, value=plan.value + other.value)

    def _nested(self, rng: Random, plan: UniversalPlan) -> UniversalPlan:
        if not plan.commands:
            return plan
        first = rng.randrange(len(plan.commands))
        last = rng.randint(first, len(plan.commands))
        sub = Command(SUB_PLAN | rng.choice((0, MAY_FAIL)), (plan.commands[first:last],))
        return plan._replace(commands=(*plan.commands[:first], sub, *plan.commands[last:]))


def parts(plan: UniversalPlan) -> list[UniversalPlan]:
    """Return the plans with one command or one action less, for making a failing one smaller."""
    smaller = []
    for at, command in enumerate(plan.commands):
        before, after = plan.commands[:at], plan.commands[at + 1 :]
        smaller.append(plan._replace(commands=(*before, *after)))
        if command.kind in (V4, SUB_PLAN):
            inner = command.fields[0]
            smaller += [
                plan._replace(commands=(*before, command.with_field(0, (*inner[:k], *inner[k + 1 :])), *after))
                for k in range(len(inner))
            ]
        if command.code & MAY_FAIL:
            smaller.append(plan._replace(commands=(*before, command._replace(code=command.kind), *after)))
        if command.kind == SUB_PLAN:
            smaller.append(plan._replace(commands=(*before, *command.fields[0], *after)))
    return smaller


def _mentioned(plan: UniversalPlan) -> tuple[list[str], list[int]]:
    """Return the currencies and amounts that a plan mentions."""
    tokens, amounts = dict[str, None](), dict[int, None]()

    def collect(kind: int, fields: tuple[Any, ...]) -> None:
        for field in fields:
            if isinstance(field, int) and not isinstance(field, bool):
                amounts[field] = None
            elif isinstance(field, list):
                tokens.update((each, None) for each in field if isinstance(each, str))
        if kind not in (*SWAPS, WRAP, UNWRAP) and fields and isinstance(fields[0], str):
            tokens[fields[0]] = None

    for command in plan.commands:
        if command.kind == V4:
            for action in command.fields[0]:
                collect(-1, action.fields)
                if action.code in (SINGLE_IN, SINGLE_OUT):
                    tokens.update((each, None) for each in action.fields[0][:2])
        elif command.kind == SUB_PLAN:
            continue
        else:
            collect(command.kind, command.fields)
    return list(tokens) or [ZERO_ADDRESS], list(amounts) or [1]


def promised_by_sum(plan: UniversalPlan, token: str) -> int:
    """Return the wrong promise that adds the minimum of every V4 swap to a token, whatever is sold of it afterwards."""
    actions = (each for command in plan.commands if command.kind == V4 for each in command.fields[0])
    return sum(_minimum_of(each, token) for each in actions if each.code in V4_SWAPS)


def _minimum_of(swap: Action, token: str) -> int:
    if swap.code == SINGLE_IN:
        key, forward, _, minimum, _ = swap.fields
        return int(minimum) if key[int(forward)] == token else 0
    if swap.code == PATH_IN:
        _, path, _, minimum = swap.fields
        return int(minimum) if path[-1][0] == token else 0
    return 0


def _v4(actions: tuple[Action, ...]) -> Command:
    return Command(V4, (actions,))


def _v3_path(tokens: Sequence[str], hops: Sequence[_Hop]) -> bytes:
    steps = (hop.venue.fee.to_bytes(3) + bytes.fromhex(token[2:]) for hop, token in zip(hops, tokens[1:], strict=True))
    return bytes.fromhex(tokens[0][2:]) + b"".join(steps)


def _v4_swap(rng: Random, hops: Sequence[_Hop], amount: int, minimum: int) -> Action:
    if len(hops) == 1 and rng.random() < 0.7:
        return Action(SINGLE_IN, (*_v4_single(hops[0]), amount, minimum, b""))
    path = [(hop.bought, hop.venue.fee, hop.venue.spacing, hop.venue.hooks, b"") for hop in hops]
    return Action(PATH_IN, (hops[0].sold, path, amount, minimum))


def _v4_exact_out(rng: Random, hops: Sequence[_Hop], wanted: int, maximum: int) -> Action:
    if len(hops) == 1 and rng.random() < 0.7:
        return Action(SINGLE_OUT, (*_v4_single(hops[0]), wanted, maximum, b""))
    path = [(hop.sold, hop.venue.fee, hop.venue.spacing, hop.venue.hooks, b"") for hop in hops]
    return Action(PATH_OUT, (hops[-1].bought, path, wanted, maximum))


def _v4_single(hop: _Hop) -> tuple[tuple[Any, ...], bool]:
    first, second = sorted((hop.sold, hop.bought))
    return (first, second, hop.venue.fee, hop.venue.spacing, hop.venue.hooks), hop.sold == first
