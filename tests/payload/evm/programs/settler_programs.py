"""Random programs for 0x Settler, alone and through AllowanceHolder."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final, NamedTuple

from eth_abi.abi import encode

from swapcli.core.model.network import SETTLER
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.payload.evm.settler_actions import hash_multiplier
from swapcli.testing.evm import selector
from tests.chain.trader import INTEGRATOR, USER
from tests.payload.evm.programs.program import Program
from tests.payload.evm.programs.venues import Trial, Venue, Venues
from tests.payload.evm.programs.world import RECIPIENT, STRANGERS, ProgramWorld
from tests.payload.evm.settler_model import HIGHEST, LOWEST, NATIVE, SIGNATURES

_ALL: Final = 10_000
_MODULUS: Final = 2**64 - 59
_FORKS: Final = {"uniswapV3": 0, "pancakeSwapV3": 1}
_VENUES: Final = frozenset(
    {"uniswapV2", "solidlyVolatile", "uniswapV3", "pancakeSwapV3", "uniswapV4", "curveFi", "balancerV2Weighted"}
)
_SURPLUS: Final = "POSITIVE_SLIPPAGE(address,address,uint256,uint256)"


class SettlerAction(NamedTuple):
    """An action by the name that `settler_model.SIGNATURES` has for it, or any bytes of an unknown one."""

    name: str
    fields: tuple[Any, ...]


class SettlerPlan(NamedTuple):
    """What `execute` gets, what AllowanceHolder gets (None if Settler is called directly), and what is sent."""

    recipient: str
    buy_token: str
    minimum: int
    actions: tuple[SettlerAction, ...]
    taken: tuple[str, str, int, str] | None
    value: int
    meant: str | None


class SettlerPrograms:
    """Makes programs from random numbers alone."""

    def __init__(self, world: ProgramWorld, target: str = SETTLER) -> None:
        self.target, self.settler, self.holder = target, world.settler.address, world.holder.address
        self.deadline_s = world.deadline_s
        self._venues = Venues(world, _VENUES)
        self.wrapped = self._venues.wrapped
        weighted = next(each for each in world.places if each.protocol == "balancerV2Weighted")
        (self._vault,), (pool_id,) = weighted.contract.call("getVault"), weighted.contract.call("getPoolId")
        self._pool_id = bytes(pool_id)
        self._pairs = {each.key: each.contract.address for each in world.places}
        self._pair_pools = [each.contract.address for each in world.places if each.protocol == "uniswapV2"]
        self._addresses = (
            *(self.settler, self.settler, USER, RECIPIENT, INTEGRATOR, *STRANGERS, ZERO_ADDRESS),
            *(self.holder, self.wrapped, *self._pair_pools),
        )

    def encode(self, plan: SettlerPlan, origin: str) -> Program:
        """Return the transaction of a plan."""
        actions = [_encode(each) for each in plan.actions]
        arguments = [(plan.recipient, plan.buy_token, plan.minimum % 2**256), actions, bytes(32)]
        data = selector(SIGNATURES["execute"]) + encode(["(address,address,uint256)", "bytes[]", "bytes32"], arguments)
        to = self.settler
        if plan.taken is not None:
            operator, token, amount, called = plan.taken
            words = encode(
                ["address", "address", "uint256", "address", "bytes"], [operator, token, amount % 2**256, called, data]
            )
            to, data = self.holder, selector(SIGNATURES["exec"]) + words
        return Program(self.target, to, plan.value, f"0x{data.hex()}", origin, plan.meant)

    def honest(self, rng: Random) -> SettlerPlan:
        """Return a plan that pays what it says."""
        while True:
            plan = self._route(rng, rng.choice((1, 1, 2, 3)), may_return=False)
            if plan is not None:
                return plan

    def hostile(self, rng: Random) -> SettlerPlan:
        """Return a plan of an attacker."""
        plan = None
        while plan is None:
            plan = self._route(rng, rng.choice((1, 2, 2, 3)), may_return=rng.random() < 0.4)
        for _ in range(rng.choice((0, 1, 1, 2, 2, 3))):
            plan = self._changed(rng, plan)
        return plan

    def _route(self, rng: Random, length: int, *, may_return: bool) -> SettlerPlan | None:
        start = rng.choice((*self._venues.tokens, NATIVE))
        amount, trial = self._venues.random_amount(rng, start), Trial(self._venues)
        actions = list[SettlerAction]()
        if start == NATIVE:
            actions.append(SettlerAction("NATIVE_CHECK", (self.deadline_s, amount)))
        else:
            permit = ((start, amount), 0, self.deadline_s)
            actions.append(SettlerAction("TRANSFER_FROM", (self.settler, permit, b"")))
        token, have, seen = start, amount, {start}
        for _ in range(length):
            token, have = self._step(rng, actions, trial, token, have, set() if may_return else seen)
            seen.add(token)
            if not have:
                return None
        if token == self.wrapped and NATIVE not in seen and rng.random() < 0.6:
            actions.append(_unwrap(self.wrapped, _ALL))
            token = NATIVE
        if token == start or {token, start} == {NATIVE, self.wrapped}:
            return None
        if rng.random() < 0.2:
            bps = rng.randint(1, 100)
            have -= have * bps // _ALL
            actions.append(_pay_share(token, INTEGRATOR, bps))
        # Solidly's pairs compute a unit less or more than Settler does for them.
        minimum = have - have * rng.choice((1, 5, 10, 50)) // 1_000 - 2
        recipient = rng.choice((USER, USER, RECIPIENT))
        taken = None if start == NATIVE else (self.settler, start, amount, self.settler)
        value, meant = amount if start == NATIVE else 0, None if recipient == USER else recipient
        return SettlerPlan(recipient, token, minimum, tuple(actions), taken, value, meant)

    def _step(
        self, rng: Random, actions: list[SettlerAction], trial: Trial, token: str, have: int, seen: set[str]
    ) -> tuple[str, int]:
        """Append the actions of one swap of all of a token, which native currency may be wrapped for."""
        if token == NATIVE and rng.random() < 0.7:
            actions.append(SettlerAction("BASIC", (NATIVE, _ALL, self.wrapped, 0, b"")))
            token = self.wrapped
        elif token == self.wrapped and NATIVE not in seen and rng.random() < 0.3:
            actions.append(_unwrap(self.wrapped, _ALL))
            token = NATIVE
        near = [
            (venue, other)
            for venue in self._venues.selling(_currency(token))
            for other in venue.others(_currency(token))
            if (NATIVE if other == ZERO_ADDRESS else other) not in seen
        ]
        if not near:
            return token, 0
        _, bought = rng.choice(near)
        pools = [venue for venue, other in near if other == bought]
        chosen = rng.sample(pools, 2) if len(pools) > 1 and rng.random() < 0.3 else [rng.choice(pools)]
        paid, left = 0, have
        for k, venue in enumerate(chosen):
            bps = _ALL if k == len(chosen) - 1 else rng.randrange(1, _ALL)
            part = left * bps // _ALL
            left -= part
            paid += trial.swap(venue, _currency(token), bought, part)
            actions.append(self._swap(venue, token, NATIVE if bought == ZERO_ADDRESS else bought, bps))
        return NATIVE if bought == ZERO_ADDRESS else bought, paid

    def _swap(self, venue: Venue, sold: str, bought: str, bps: int) -> SettlerAction:
        """Return the action of a swap that pays Settler."""
        to, is_forward = self.settler, _number(_currency(sold)) < _number(_currency(bought))
        limit = LOWEST if is_forward else HIGHEST
        if venue.protocol in ("uniswapV2", "solidlyVolatile"):
            info = venue.fee // 100 << 8 | is_forward
            return SettlerAction("UNISWAPV2", (to, sold, bps, self._pairs[venue.key], info, 0))
        if venue.protocol in _FORKS:
            path = b"".join((
                bytes.fromhex(sold[2:]), bytes((_FORKS[venue.protocol],)), venue.fee.to_bytes(3),
                limit.to_bytes(20), bytes.fromhex(bought[2:]),
            ))  # fmt: skip
            return SettlerAction("UNISWAPV3", (to, bps, path, 0))
        if venue.protocol == "uniswapV4":
            fill = b"".join((
                _ALL.to_bytes(2), limit.to_bytes(20), b"\1", bytes.fromhex(bought[2:]), venue.fee.to_bytes(3),
                venue.spacing.to_bytes(3, signed=True), bytes.fromhex(venue.hooks[2:]), bytes(3),
            ))  # fmt: skip
            return SettlerAction("UNISWAPV4", (to, sold, bps, False, hash_multiplier(sold, bought), _MODULUS, fill, 0))
        if venue.protocol == "curveFi":
            coins = venue.currencies.index(sold), venue.currencies.index(bought), 0, 0
            data = selector(SIGNATURES["exchange"]) + encode(["int128", "int128", "uint256", "uint256"], coins)
            return SettlerAction("BASIC", (sold, bps, self._pairs[venue.key], 68, data))
        swap = (self._pool_id, 0, sold, bought, 0, b"")
        types = ["(bytes32,uint8,address,address,uint256,bytes)", "(address,bool,address,bool)", "uint256", "uint256"]
        words = encode(types, [swap, (to, False, to, False), 0, 2**256 - 1])
        return SettlerAction("BASIC", (sold, bps, self._vault, 4 + 11 * 32, selector(SIGNATURES["swap"]) + words))

    # --- changes

    def _changed(self, rng: Random, plan: SettlerPlan) -> SettlerPlan:
        changes: tuple[Callable[[Random, SettlerPlan], SettlerPlan], ...] = (
            self._reordered, self._reordered, self._with_action, self._with_action, self._with_field, self._with_field,
            self._with_field, self._with_terms, self._with_terms, self._with_bytes,
        )  # fmt: skip
        return rng.choice(changes)(rng, plan)

    def _reordered(self, rng: Random, plan: SettlerPlan) -> SettlerPlan:
        actions = list(plan.actions)
        if not actions:
            return plan
        kind = rng.random()
        if kind < 0.3:
            actions.insert(rng.randint(0, len(actions)), rng.choice(actions))
        elif kind < 0.6:
            del actions[rng.randrange(len(actions))]
        else:
            actions.insert(rng.randint(0, len(actions)), actions.pop(rng.randrange(len(actions))))
        return plan._replace(actions=tuple(actions))

    def _with_action(self, rng: Random, plan: SettlerPlan) -> SettlerPlan:
        tokens = [plan.buy_token, *(plan.taken[1:2] if plan.taken else [NATIVE]), *self._venues.tokens]
        token, to, bps = rng.choice(tokens), rng.choice(self._addresses), rng.choice((0, 1, 100, 5_000, _ALL))
        amount = rng.choice((plan.minimum, plan.minimum // 2, 1, 10**6, 2**160 - 1))
        near = [
            (venue, other)
            for venue in self._venues.selling(_currency(token))
            for other in venue.others(_currency(token))
        ]
        data = selector("transferFrom(address,address,uint256)") + encode(
            ["address"] * 2 + ["uint256"], [USER, to, amount]
        )
        surplus = selector(_SURPLUS) + encode(["address", "address", "uint256", "uint256"], [to, token, amount, bps])
        choices = [
            _pay_share(token, to, bps),
            SettlerAction("BASIC", (token, 0, token, 0, _transfer(to, amount))),
            SettlerAction("BASIC", (ZERO_ADDRESS, 0, rng.choice((token, self.holder)), 0, data)),
            SettlerAction("BASIC", (NATIVE, bps, rng.choice((self.wrapped, to)), 0, b"")),
            _unwrap(self.wrapped, bps),
            SettlerAction("TRANSFER_FROM", (to, ((token, amount), 0, self.deadline_s), b"")),
            SettlerAction("NATIVE_CHECK", (self.deadline_s, plan.value)),
            SettlerAction("", (surplus,)),
            SettlerAction("", (rng.randbytes(rng.choice((0, 3, 4, 36, 100))),)),
        ]  # fmt: skip
        if near:
            venue, other = rng.choice(near)
            choices += [self._swap(venue, token, NATIVE if other == ZERO_ADDRESS else other, bps)] * 4
        actions = list(plan.actions)
        actions.insert(rng.randint(0, len(actions)), rng.choice(choices))
        return plan._replace(actions=tuple(actions))

    def _with_field(self, rng: Random, plan: SettlerPlan) -> SettlerPlan:
        if not plan.actions:
            return plan
        at = rng.randrange(len(plan.actions))
        action = plan.actions[at]
        k = rng.randrange(len(action.fields))
        field = action.fields[k]
        if isinstance(field, bool):
            changed: Any = not field
        elif isinstance(field, int):
            changed = rng.choice((0, 1, 100, 5_000, _ALL, field + 1, max(0, field - 1), field * 2))
        elif isinstance(field, str):
            tokens = (*self._venues.tokens, NATIVE, ZERO_ADDRESS)
            changed = rng.choice(tokens if field in tokens else self._addresses)
        elif isinstance(field, tuple):
            (token, amount), nonce, deadline_s = field
            changed = rng.choice((
                ((token, amount * 2), nonce, deadline_s),
                ((rng.choice(self._venues.tokens), amount), nonce, deadline_s),
                ((token, amount), nonce, 2**256 - 1),
                ((token, amount), nonce + 1, deadline_s),
                ((token, amount // 2), nonce, deadline_s),
            ))  # fmt: skip
        elif field and rng.random() < 0.7:
            address = bytes.fromhex(rng.choice((*self._addresses, *self._venues.tokens))[2:])
            cut = rng.choice((0, 16, 23, 44, *(4 + 12 + 32 * n for n in range(len(field) // 32))))
            changed = (field[:cut] + address + field[cut + 20 :])[: len(field)]
        else:
            changed = rng.randbytes(rng.choice((0, 4, 64, 72)))
        fields = (*action.fields[:k], changed, *action.fields[k + 1 :])
        return plan._replace(actions=(*plan.actions[:at], action._replace(fields=fields), *plan.actions[at + 1 :]))

    def _with_terms(self, rng: Random, plan: SettlerPlan) -> SettlerPlan:
        minimum = rng.choice((0, 1, plan.minimum + 1, plan.minimum * 2))
        token = rng.choice((*self._venues.tokens, NATIVE))
        changed = [
            plan._replace(minimum=minimum),
            plan._replace(buy_token=token),
            plan._replace(recipient=rng.choice(self._addresses)),
            plan._replace(value=rng.choice((0, 1, plan.value * 2, plan.value // 2))),
        ]
        if plan.taken is not None:
            operator, sold, amount, called = plan.taken
            other = rng.choice(self._addresses)
            changed += [
                plan._replace(taken=(other, sold, amount, called)),
                plan._replace(taken=(operator, sold, rng.choice((amount * 2, 2**256 - 1, amount // 2)), called)),
                plan._replace(taken=(operator, token, amount, called)),
                plan._replace(taken=(operator, sold, amount, other)),
                plan._replace(taken=None),
            ]
        return rng.choice(changed)

    def _with_bytes(self, rng: Random, plan: SettlerPlan) -> SettlerPlan:
        """Pay the input to the first pool, or another one, before anything is called."""
        actions = list(plan.actions)
        for k, action in enumerate(actions):
            if action.name == "TRANSFER_FROM":
                pool = rng.choice(self._pair_pools)
                actions[k] = action._replace(fields=(pool, *action.fields[1:]))
            elif action.name == "UNISWAPV2" and rng.random() < 0.7:
                actions[k] = action._replace(fields=(*action.fields[:2], 0, *action.fields[3:]))
        return plan._replace(actions=tuple(actions))


def parts(plan: SettlerPlan) -> list[SettlerPlan]:
    """Return the plans with one action less."""
    return [plan._replace(actions=(*plan.actions[:k], *plan.actions[k + 1 :])) for k in range(len(plan.actions))]


def _encode(action: SettlerAction) -> bytes:
    if not action.name:
        (content,) = action.fields
        return bytes(content)
    signature = SIGNATURES[action.name]
    types = _types(signature)
    return selector(signature) + encode(
        types, [_fit(kind, field) for kind, field in zip(types, action.fields, strict=True)]
    )


def _fit(kind: str, field: Any) -> Any:
    return field % 2 ** int(kind[4:]) if kind.startswith("uint") else field


def _types(signature: str) -> list[str]:
    """Return the types of a signature's arguments, of which tuples have commas of their own."""
    types, depth = [""], 0
    for letter in signature[signature.index("(") + 1 : -1]:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            types.append("")
        else:
            types[-1] += letter
    return types


def _transfer(to: str, amount: int) -> bytes:
    return selector(SIGNATURES["transfer"]) + encode(["address", "uint256"], [to, amount])


def _pay_share(token: str, to: str, bps: int) -> SettlerAction:
    if token == NATIVE:
        return SettlerAction("BASIC", (NATIVE, bps, to, 0, b""))
    return SettlerAction("BASIC", (token, bps, token, 36, _transfer(to, 0)))


def _unwrap(wrapped: str, bps: int) -> SettlerAction:
    data = selector(SIGNATURES["withdraw"]) + bytes(32)
    return SettlerAction("BASIC", (wrapped, bps, wrapped, 4, data))


def _currency(token: str) -> str:
    return ZERO_ADDRESS if token == NATIVE else token


def _number(address: str) -> int:
    return int(address, 16)
