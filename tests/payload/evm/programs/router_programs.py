"""Random programs for the interface's router, and for ours, whose contract executes both."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final, NamedTuple

from eth_abi.abi import encode

from swapcli.core.model.network import OWN
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterRouteParam, RouterSwapParam
from swapcli.families.row import PoolUse
from swapcli.payload.evm.extra_data import encode_extra_data
from swapcli.testing.evm import selector
from tests.chain.trader import INTEGRATOR, USER
from tests.payload.evm.programs.program import Program
from tests.payload.evm.programs.venues import Trial, Venues
from tests.payload.evm.programs.world import RECIPIENT, STRANGERS, ProgramWorld

SWAP, INTEGRATED, BEFORE, PERMITTED = "swap", "swapIntegrator", "swapBefore", "swapWithPermit"
_ROUTE = "(address,address,uint256,uint256,uint256,address,uint8)"
_SWAPS = "(address,address,uint32,int24,address,uint8,bytes)[]"
_TYPES: Final = {
    SWAP: [_ROUTE, _SWAPS],
    INTEGRATED: [_ROUTE, _SWAPS, "bytes"],
    BEFORE: ["uint256", _ROUTE, _SWAPS, "bytes"],
    PERMITTED: [_ROUTE, _SWAPS, "uint256", "uint8", "bytes32", "bytes32"],
}
_WHOLE: Final = 1_000_000


class RouterPlan(NamedTuple):
    """A call of one of the functions, with the value that is sent and the recipient that the user means."""

    function: str
    route: RouterRouteParam
    swaps: tuple[RouterSwapParam, ...]
    integrator_data: bytes = b""
    deadline_s: int = 0
    value: int = 0
    recipient: str | None = None


class RouterPrograms:
    """Makes programs for one of the two dialects, from random numbers alone."""

    def __init__(self, world: ProgramWorld, target: str) -> None:
        self.target, self.router, self.deadline_s = target, world.own.address, world.deadline_s
        self._venues, self._network = Venues(world), world.networks[target]
        self.wrapped = self._venues.wrapped
        self._addresses = (USER, RECIPIENT, INTEGRATOR, *STRANGERS, self.router, ZERO_ADDRESS, world.manager.address)

    def encode(self, plan: RouterPlan, origin: str) -> Program:
        """Return the transaction of a plan."""
        route, swaps = tuple(plan.route), [tuple(each)[:7] for each in plan.swaps]
        arguments: dict[str, list[Any]] = {
            SWAP: [route, swaps],
            INTEGRATED: [route, swaps, plan.integrator_data],
            BEFORE: [plan.deadline_s, route, swaps, plan.integrator_data],
            PERMITTED: [route, swaps, plan.deadline_s, 27, bytes(32), bytes(32)],
        }
        types = _TYPES[plan.function]
        data = selector(f"{plan.function}({','.join(types)})") + encode(types, arguments[plan.function])
        return Program(self.target, self.router, plan.value, f"0x{data.hex()}", origin, plan.recipient)

    def honest(self, rng: Random) -> RouterPlan:
        """Return a call that pays what it says: hops one after the other, some of them over two pools."""
        while True:
            plan = self._route(rng, rng.choice((1, 1, 2, 3)), may_return=False)
            if plan is not None:
                return plan

    def hostile(self, rng: Random) -> RouterPlan:
        """Return a call of an attacker: a walk that may come back, or changes of an honest call."""
        plan = None
        while plan is None:
            plan = self._route(rng, rng.choice((1, 2, 2, 3, 4)), may_return=rng.random() < 0.4)
        for _ in range(rng.choice((0, 1, 1, 2, 2, 3))):
            plan = self._changed(rng, plan)
        return plan

    def _route(self, rng: Random, length: int, *, may_return: bool) -> RouterPlan | None:
        token = start = rng.choice(self._venues.tokens)
        amount, trial = self._venues.random_amount(rng, start), Trial(self._venues)
        seen, swaps, have = {start}, list[RouterSwapParam](), amount
        for _ in range(length):
            near = [
                (venue, other)
                for venue in self._venues.selling(token) + (self._native(token))
                for other in self._others(venue.currencies, token)
                if may_return or other not in seen
            ]
            if not near:
                break
            _, bought = rng.choice(near)
            pools = [venue for venue, other in near if other == bought]
            chosen = rng.sample(pools, 2) if len(pools) > 1 and rng.random() < 0.3 else [rng.choice(pools)]
            paid, left = 0, have
            for k, venue in enumerate(chosen):
                rate = _WHOLE if k == len(chosen) - 1 else rng.randrange(1, _WHOLE)
                part = left * rate // _WHOLE
                left -= part
                paid += trial.swap(venue, token, bought, part)
                swaps.append(self._swap(venue.key, token, bought, rate))
            token, have = bought, paid
            seen.add(token)
            if not paid:
                return None
        if not swaps or token == start:
            return None
        kinds = [SwapType.TOKEN_TO_TOKEN]
        kinds += [SwapType.NATIVE_TO_TOKEN] * 3 if start == self.wrapped else []
        kinds += [SwapType.TOKEN_TO_NATIVE] * 3 if token == self.wrapped else []
        kind, recipient = rng.choice(kinds), rng.choice((USER, USER, RECIPIENT))
        function = rng.choice((SWAP, SWAP, INTEGRATED, PERMITTED, *([BEFORE] * 3 if self.target == OWN else [])))
        fee_bps = rng.randint(1, 100) if function == INTEGRATED or (function == BEFORE and rng.random() < 0.5) else 0
        data = encode(["address", "uint256", "uint256"], [INTEGRATOR, fee_bps, 0]) if fee_bps else b""
        due = have - have * fee_bps // 10_000
        minimum = due - due * rng.choice((0, 1, 5, 10, 50)) // 1_000
        route = RouterRouteParam(start, token, amount, have, minimum, recipient, kind)
        swaps = [swap._replace(swap_type=kind) for swap in swaps]
        value = amount if kind is SwapType.NATIVE_TO_TOKEN else 0
        meant = None if recipient == USER else recipient
        return RouterPlan(function, route, tuple(swaps), data, self.deadline_s, value, meant)

    def _native(self, token: str) -> list[Any]:
        return self._venues.selling(ZERO_ADDRESS) if token == self.wrapped else []

    def _others(self, currencies: tuple[str, ...], token: str) -> list[str]:
        tokens = [self.wrapped if each == ZERO_ADDRESS else each for each in currencies]
        return [each for each in tokens if each != token]

    def _swap(self, key: str, sold: str, bought: str, rate: int) -> RouterSwapParam:
        pool = self._venues.pools[key]
        protocol = self._network.protocol(pool.protocol)
        assert protocol is not None
        extra = encode_extra_data(PoolUse(pool, sold, bought, protocol))
        return RouterSwapParam(sold, bought, rate, protocol.id, pool.address, SwapType.TOKEN_TO_TOKEN, extra)

    # --- changes

    def _changed(self, rng: Random, plan: RouterPlan) -> RouterPlan:
        changes: tuple[Callable[[Random, RouterPlan], RouterPlan], ...] = (
            self._with_route, self._with_route, self._with_swap, self._with_swap, self._reordered, self._reordered,
            self._with_terms, self._with_return,
        )  # fmt: skip
        return rng.choice(changes)(rng, plan)

    def _with_route(self, rng: Random, plan: RouterPlan) -> RouterPlan:
        route = plan.route
        minimum = rng.choice((0, 1, route.min_received + 1, route.min_received * 2, route.amount_in, 2**256 - 1))
        amount = rng.choice((0, 1, route.amount_in - 1, route.amount_in + 1, route.amount_in * 2, 2**255))
        changed = rng.choice((
            route._replace(min_received=minimum),
            route._replace(amount_in=amount),
            route._replace(amount_out=rng.choice((0, 1, minimum))),
            route._replace(recipient=rng.choice(self._addresses)),
            route._replace(swap_type=rng.choice(list(SwapType))),
            route._replace(token_in=rng.choice(self._venues.tokens)),
            route._replace(token_out=rng.choice(self._venues.tokens)),
        ))  # fmt: skip
        return plan._replace(route=changed)

    def _with_swap(self, rng: Random, plan: RouterPlan) -> RouterPlan:
        at = rng.randrange(len(plan.swaps)) if plan.swaps else 0
        if not plan.swaps:
            return plan
        swap = plan.swaps[at]
        pool = rng.choice(list(self._venues.pools.values()))
        sold, bought = rng.sample(pool.tokens, 2)
        changed = rng.choice((
            swap._replace(rate=rng.choice((1, 500_000, 999_999, _WHOLE, 0, _WHOLE + 1))),
            swap._replace(token_in=rng.choice(self._venues.tokens)),
            swap._replace(token_out=rng.choice(self._venues.tokens)),
            swap._replace(pool_address=rng.choice((pool.address, *self._addresses))),
            swap._replace(extra_data=rng.randbytes(rng.choice((0, 1, 2, 3, 32, 160)))),
            swap._replace(swap_type=rng.choice(list(SwapType))),
            self._swap(pool.key, sold, bought, rng.choice((_WHOLE, 500_000))),
        ))  # fmt: skip
        return plan._replace(swaps=(*plan.swaps[:at], changed, *plan.swaps[at + 1 :]))

    def _reordered(self, rng: Random, plan: RouterPlan) -> RouterPlan:
        swaps = list(plan.swaps)
        if not swaps:
            return plan
        kind = rng.random()
        if kind < 0.3:
            swaps.insert(rng.randint(0, len(swaps)), rng.choice(swaps))
        elif kind < 0.6:
            del swaps[rng.randrange(len(swaps))]
        else:
            swaps.insert(rng.randint(0, len(swaps)), swaps.pop(rng.randrange(len(swaps))))
        return plan._replace(swaps=tuple(swaps))

    def _with_return(self, rng: Random, plan: RouterPlan) -> RouterPlan:
        """Sell again what was bought."""
        if not plan.swaps:
            return plan
        last = plan.swaps[-1]
        back = last._replace(token_in=last.token_out, token_out=last.token_in, rate=rng.choice((_WHOLE, 990_000, 10)))
        swaps = (*plan.swaps, back, *([last] if rng.random() < 0.5 else []))
        return plan._replace(swaps=swaps)

    def _with_terms(self, rng: Random, plan: RouterPlan) -> RouterPlan:
        shares = [
            rng.choice(self._addresses),
            *rng.choice(((0, 0), (100, 0), (500, 0), (0, 100), (0, 5_000), (9_999, 0))),
        ]
        data = rng.choice((encode(["address", "uint256", "uint256"], shares), b"", rng.randbytes(96)))
        value = rng.choice((0, 1, plan.route.amount_in, 2 * plan.route.amount_in)) % 10**24
        return rng.choice((
            plan._replace(integrator_data=data, function=rng.choice((INTEGRATED, BEFORE))),
            plan._replace(function=rng.choice((SWAP, PERMITTED, BEFORE))),
            plan._replace(value=value),
            plan._replace(deadline_s=rng.choice((0, 1, 2**256 - 1))),
        ))  # fmt: skip


def parts(plan: RouterPlan) -> list[RouterPlan]:
    """Return the calls with one swap less."""
    return [plan._replace(swaps=(*plan.swaps[:k], *plan.swaps[k + 1 :])) for k in range(len(plan.swaps))]
