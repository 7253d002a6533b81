"""EulerSwap pools: a curve around an equilibrium, whose reserves are deposits and debts of one account in vaults.

The sold token first repays the account's debt in its vault, and the rest is deposited there. The bought token is
withdrawn, and borrowed if the deposits do not suffice. So the vaults limit a swap: by their room for deposits, their
cash, and their caps on borrowing. Vaults also serve others and accrue interest, so these limits hold for one block, and
a route swaps in a pool once.

The account may also lack the collateral for the amount that a swap borrows, which the contract's quotes do not
consider. The lending vault checks this at the end of each of its operations: the account's debt must be worth less than
its collateral, each part times its loan-to-value ratio. The input comes first: it repays the debt, or it adds
collateral.

* As long as a debt in the sold token remains, no other vault lends. The withdrawn amount must not be needed as
  collateral.
* Otherwise the bought token is borrowed. Its collateral is the account's previous collateral plus the input.

Pools may share vaults. The amounts that a route moves out of and into a vault through one pool count against the limits
of the next pool, but the next pool does not rely on amounts paid in.

The fee stays out of the reserves. `euler_curve` has the curve. The owner of a pool of the second version may change all
of its parameters at any time, which emits an event.

Source: `QuoteLib.sol`, `SwapLib.sol`, `FundsLib.sol` of euler-xyz/euler-swap; `LiquidityUtils.sol` of
euler-xyz/euler-vault-kit. Swap hooks of the second version are not computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from math import inf

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.frozen_dataclass import dataclass, replace
from swapcli.core.model.pool import Pool, PoolIdentity, RateCurve, SharedState
from swapcli.core.model.units import PPM, WAD
from swapcli.core.networks.pool_addresses import v4_pool_id
from swapcli.core.records import NamedTuple
from swapcli.core.validation.values import InvalidValue, parse_hex, parse_integer, parse_list
from swapcli.families.euler.euler_curve import NO_RESERVE, RESERVE_BITS, Half, reserve_above, reserve_below
from swapcli.families.euler.euler_swap_curve import EulerSwapCurve, SecuredRange
from swapcli.families.fast_replace import fast_replace
from swapcli.families.hull_curve import ZeroCurve
from swapcli.families.identity_checks import check_pair
from swapcli.families.rounding import UINT256_LIMIT, div_up
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import is_forward

MAX_RESERVE: Final = (1 << RESERVE_BITS) - 1
MAX_ROUTE_USE: Final = 1 << 128
"""Far above the sum of a route's swaps, each of which is below `MAX_RESERVE`."""
_MAX_PRICE: Final = 10**25  # limit of the contract's price parameters
_VERSIONS: Final = (1, 2)
_V4_SPACING: Final = 1  # tick spacing in the key of the Uniswap V4 pool
_GAS_OF_SECOND_VERSION: Final = 400_000  # gas units of a swap
COLLATERAL_BITS: Final = 128
RATE_BITS: Final = 240
COLLATERAL_SCALE: Final = 10**36
"""The scale of collateral rates, so that they keep their digits between tokens with any decimals."""
KEPT_BACK: Final = 500_000
"""The collateral is counted without one part in this many: interest for three minutes at 35% a year, or ten at 10%.

The same part is kept back of a vault's loans and assets when comparing them with its caps.
"""


class VaultAccount(NamedTuple):
    """The account's holdings in the vaults. Pairs have a value for the first token and one for the second.

    `deposits` are the account's deposits, in base units. `collateral` is the total debt in each token, in base units,
    that the account's collateral other than deposits in the token itself can secure. Each additional base unit
    deposited in the other token raises this amount by `collateral_rates`, fractions scaled by 10^36. `fee_paid_out` is
    the part of the fee that is not deposited, as a fraction scaled by 10^18.
    """

    deposits: tuple[int, int]
    collateral: tuple[int, int]
    collateral_rates: tuple[int, int]
    fee_paid_out: int


@dataclass(frozen=True, slots=True)
class EulerSwap(Pool):
    """An EulerSwap pool. Pairs have a value for the first token and one for the second, in base units if they are
    amounts.

    `fees` are the fees for selling either token (100% means that it cannot be sold), and `concentrations` belong to the
    halves on which that token is below its equilibrium, all as fractions scaled by 10^18. The sold token repays `debts`
    first; the vaults have `deposit_capacity` for the rest, which gets no vault shares if it is below `min_deposits`.
    `output_limits` are the amounts that the vaults can pay. How much of them the account can withdraw and borrow
    follows from `account`; if that is None, `secured_outputs` has the amounts without the input. A swap goes through
    the `pool_manager` of Uniswap V4, which lends the input from its `manager_balances`; `v4_fee_ppm` is the fee in its
    key, which no swap pays.

    `vaults` are the addresses of each token's vaults, with the vault for deposits first, and `vault_uses` the amounts
    that the route has moved out of and into each of them, in the same order.
    """

    version: int
    pool_manager: str
    v4_fee_ppm: int
    vaults: tuple[tuple[str, ...], tuple[str, ...]]
    vault_uses: tuple[tuple[int, int], ...]
    account: VaultAccount | None
    secured_outputs: tuple[int, int]
    reserves: tuple[int, int]
    equilibrium: tuple[int, int]
    min_reserves: tuple[int, int]
    prices: tuple[int, int]
    concentrations: tuple[int, int]
    fees: tuple[int, int]
    debts: tuple[int, int]
    deposit_capacity: tuple[int, int]
    min_deposits: tuple[int, int]
    output_limits: tuple[int, int]
    manager_balances: tuple[int, int]

    family: ClassVar[str] = "euler_swap"
    swap_gas: ClassVar[int] = 640_900
    """The gas of the first version, from kyberswap-dex-lib @ae6a99aa, which takes 400,000 for the second one."""
    is_single_use: ClassVar[bool] = True
    holds_reserves_in_vault: ClassVar[bool] = True
    changes_without_events: ClassVar[bool] = True

    @property
    def called_address(self) -> str:
        """The Uniswap V4 pool manager, which a swap calls: the pool is one of its hooks."""
        return self.pool_manager

    @property
    def pool_id(self) -> str:
        """The ID of the Uniswap V4 pool whose hook this pool is."""
        return v4_pool_id(self.tokens[0], self.tokens[1], self.v4_fee_ppm, _V4_SPACING, self.address)

    @property
    def shared_states(self) -> tuple[SharedState, ...]:
        """The amounts that the route has moved out of and into each vault; swaps in other pools also change them."""
        return tuple(SharedState(*each) for each in zip(chain(*self.vaults), self.vault_uses, strict=True))

    def with_shared_state(self, shared: SharedState) -> Self:
        """Return the pool with the amounts that the route has moved through one vault replaced by those in `shared`."""
        paid_out, paid_in = shared.reserves
        uses = tuple(
            (paid_out, paid_in) if vault == shared.address else own
            for vault, own in zip(chain(*self.vaults), self.vault_uses, strict=True)
        )
        after: Self = _replace_uses(self, uses)
        return after

    def without_lenders(self) -> Self:
        """Return the pool without the limits of its vaults, its account and the pool manager."""
        unlimited = (MAX_RESERVE, MAX_RESERVE)
        if self.account is None and self.secured_outputs == self.manager_balances == unlimited:
            return self
        return replace(
            self, account=None, secured_outputs=unlimited, output_limits=unlimited, deposit_capacity=unlimited,
            manager_balances=unlimited, min_deposits=(0, 0), vault_uses=((0, 0),) * len(self.vault_uses),
        )  # fmt: skip

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell exactly `amount_in`; the output is the contract's quote. Raises the same errors as `Pool.swap`."""
        sold = 0 if is_forward(self, token_in, token_out) else 1
        if amount_in > MAX_RESERVE:
            raise SwapReverts(f"pool {self.key}: {amount_in} is more than the contract can count")
        if self.fees[sold] == WAD:
            raise SwapReverts(f"pool {self.key}: its owner does not allow {token_in} to be sold")
        fee = amount_in * self.fees[sold] // WAD
        net, taken = amount_in - fee, self._taken(amount_in, fee)
        if amount_in > self.manager_balances[sold]:
            raise InsufficientLiquidity(f"pool {self.key}: the pool manager does not have {amount_in} to lend")
        if 0 < (deposit := taken.least - self.debts[sold]) < self.min_deposits[sold]:
            raise SwapReverts(f"pool {self.key}: a deposit of {deposit} gets no share of the vault")
        amount_out = self._bought_for(sold, net)
        input_limit, output_limit = self._limits(sold)
        paid_out, paid_in = self._used(1 - sold)[0], self._used(sold)[1]
        # The contract's quotes ignore the deposited part of the fee.
        room = min(input_limit, self.debts[sold] + self.deposit_capacity[sold] - (taken.most - net)) - paid_in
        if net > room or amount_out > output_limit - paid_out:
            raise InsufficientLiquidity(f"pool {self.key}: the vaults cannot take {net} or pay {amount_out}")
        secured = self._secured(sold, taken.least) - (0 if self.account else paid_out)
        if amount_out > secured:
            raise InsufficientLiquidity(f"pool {self.key}: its account lacks the collateral to borrow {amount_out}")
        if not amount_out:
            raise self.rounds_to_zero(amount_in)
        new_in, new_out = self.reserves[sold] + net, self.reserves[1 - sold] - amount_out
        if new_in > MAX_RESERVE:
            raise SwapReverts(f"pool {self.key}: a reserve of {new_in} exceeds {RESERVE_BITS} bits")
        reserves = (new_in, new_out) if not sold else (new_out, new_in)
        uses = self._uses_after(sold, amount_in, amount_out)
        after: Self = _replace_swapped(self, reserves, uses, *self._account_after(sold, taken.least, amount_out))
        return amount_out, after

    def _taken(self, amount_in: int, fee: int) -> _Taken:
        """Return the part of an input that the vaults take: everything except the part of the fee that is paid out."""
        if self.account is None:
            return _Taken(amount_in - fee, amount_in)
        taken = amount_in - fee * self.account.fee_paid_out // WAD
        return _Taken(taken, taken)

    def _secured(self, sold: int, taken: int) -> int:
        """Return how much the account can withdraw and borrow after the vaults have taken an input."""
        account, bought = self.account, 1 - sold
        if account is None:
            return self.secured_outputs[bought]
        withdrawn, left = account.deposits[bought], self.debts[sold] - taken
        if left > 0:
            spare = _counted(account.collateral[sold]) - left
            if spare <= 0 or not (rate := account.collateral_rates[sold]):
                return withdrawn if spare > 0 else 0
            return min(withdrawn, spare * COLLATERAL_SCALE // _with_margin(rate))
        # The new vault share is worth one share and one unit less than the deposit, because of rounding.
        added = max(-left - self.min_deposits[sold] - 1, 0)
        collateral = account.collateral[bought] + added * account.collateral_rates[bought] // COLLATERAL_SCALE
        borrowed = _counted(collateral) - self.debts[bought]
        # With a debt, the lender rejects any withdrawal that leaves too little.
        return 0 if borrowed <= 0 < self.debts[bought] else withdrawn + max(borrowed, 0)

    def _account_after(self, sold: int, taken: int, amount_out: int) -> tuple[tuple[int, int], VaultAccount | None]:
        """Return the debts and the account after a swap."""
        account, bought = self.account, 1 - sold
        if account is None:
            return self.debts, None
        debts, deposits, collateral = [*self.debts], [*account.deposits], [*account.collateral]
        repaid = min(taken, debts[sold])
        withdrawn = min(amount_out, deposits[bought])
        debts[sold] -= repaid
        debts[bought] += amount_out - withdrawn
        deposits[sold] += taken - repaid
        deposits[bought] -= withdrawn
        collateral[bought] += (taken - repaid) * account.collateral_rates[bought] // COLLATERAL_SCALE
        secured = div_up(withdrawn * account.collateral_rates[sold], COLLATERAL_SCALE)
        collateral[sold] = max(collateral[sold] - secured, 0)
        if max(*debts, *deposits) >> RESERVE_BITS or max(collateral) >> COLLATERAL_BITS:
            raise SwapReverts(f"pool {self.key}: a vault cannot represent its account's balance after the swap")
        return (debts[0], debts[1]), account._replace(
            deposits=(deposits[0], deposits[1]), collateral=(collateral[0], collateral[1])
        )

    def _used(self, token: int) -> tuple[int, int]:
        """Return the most that the route has moved out of a vault of a token, and the most into one."""
        first = token * len(self.vaults[0])
        uses = self.vault_uses[first : first + len(self.vaults[token])]
        return max(use[0] for use in uses), max(use[1] for use in uses)

    def _uses_after(self, sold: int, amount_in: int, amount_out: int) -> tuple[tuple[int, int], ...]:
        changes = [(0, amount_in) if token == sold else (amount_out, 0) for token in (0, 1) for _ in self.vaults[token]]
        return tuple((use[0] + out, use[1] + into) for use, (out, into) in zip(self.vault_uses, changes, strict=True))

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`."""
        sold = 0 if is_forward(self, token_in, token_out) else 1
        bought = 1 - sold
        if self.fees[sold] == WAD:
            return ZeroCurve()
        try:
            limits = self._limits(sold)
        except SwapReverts:
            limits = (0, 0)
        most = min(self.debts[sold] + self.deposit_capacity[sold], self.manager_balances[sold])
        return EulerSwapCurve(
            reserves=(float(self.reserves[sold]), float(self.reserves[bought])),
            equilibrium=(float(self.equilibrium[sold]), float(self.equilibrium[bought])),
            rate=self.prices[sold] / self.prices[bought],
            dilutions=((WAD - self.concentrations[sold]) / WAD, (WAD - self.concentrations[bought]) / WAD),
            kept=1.0 - self.fees[sold] / WAD,
            to_equilibrium=float(max(self.equilibrium[sold] - self.reserves[sold], 0)),
            limits=(min(limits[0], most * (WAD - self.fees[sold]) // WAD), float(limits[1])),
            secured=tuple(self._secured_ranges(sold)),
        )

    def _secured_ranges(self, sold: int) -> Iterator[SecuredRange]:
        """Yield the amounts that the account can withdraw and borrow, by the input after the fee: `_secured` in
        floating point."""
        account, bought = self.account, 1 - sold
        if account is None:
            yield SecuredRange(inf, float(self.secured_outputs[bought]), 0.0)
            return
        withdrawn, debt = float(account.deposits[bought]), self.debts[sold]
        fee = self.fees[sold] / WAD
        # The amount that the vaults take for each unit of the input after the fee.
        taken = (1.0 - fee * (account.fee_paid_out / WAD)) / (1.0 - fee)
        if debt:
            spare = _counted(account.collateral[sold]) - debt
            rate = _with_margin(account.collateral_rates[sold]) / COLLATERAL_SCALE
            yield SecuredRange(debt / taken, withdrawn if spare > 0 else 0.0, 0.0)
            if account.collateral_rates[sold]:
                yield SecuredRange(debt / taken, spare / rate, taken / rate)
        rate = account.collateral_rates[bought] / COLLATERAL_SCALE * (1.0 - 1.0 / KEPT_BACK)
        borrowed = _counted(account.collateral[bought]) - self.debts[bought]
        if borrowed <= 0 < self.debts[bought]:
            yield SecuredRange(inf, 0.0, 0.0)
        else:
            rounding = rate * (self.min_deposits[sold] + 1)
            yield SecuredRange(inf, max(withdrawn + borrowed - rounding, 0.0) - rate * debt, rate * taken)

    def gas_units(self, after: Pool) -> int:
        """Return the gas of a swap, which depends only on the pool's version."""
        del after
        return self.swap_gas if self.version == 1 else _GAS_OF_SECOND_VERSION

    def gas_units_to(self, token_in: str, token_out: str, rate: float) -> int:
        """Return the gas of a swap, which is the same at any rate."""
        del token_in, token_out, rate
        return self.gas_units(self)

    def _half(self, below: int) -> Half:
        """Return the half of the curve on which the first (0) or second (1) token is below its equilibrium."""
        other = 1 - below
        return Half(
            self.equilibrium[below],
            self.equilibrium[other],
            self.prices[below],
            self.prices[other],
            self.concentrations[below],
        )

    def _least_reserve(self, other: int, reserve: int) -> int:
        """Return the least reserve of token `1 - other` when token `other` has a given reserve."""
        if reserve <= self.equilibrium[other]:
            return reserve_above(self._half(other), reserve, version=self.version)
        return reserve_below(self._half(1 - other), reserve, version=self.version)

    def _bought_for(self, sold: int, net: int) -> int:
        least = self._least_reserve(sold, self.reserves[sold] + net)
        return max(self.reserves[1 - sold] - least, 0)

    def _sold_for(self, sold: int, amount_out: int) -> int:
        """Return the input after the fee that buys an amount; `NO_RESERVE` if none does."""
        reserve = self.reserves[1 - sold]
        if reserve <= amount_out:
            return NO_RESERVE
        return max(self._least_reserve(1 - sold, reserve - amount_out) - self.reserves[sold], 0)

    def _limits(self, sold: int) -> tuple[int, int]:
        """Return the largest input (after the fee) and output that the contract quotes. Raises `SwapReverts`."""
        bought = 1 - sold
        input_limit = min(self.debts[sold] + self.deposit_capacity[sold], MAX_RESERVE)
        output_limit = min(self.output_limits[bought], self.reserves[bought] - self.min_reserves[bought])
        if self.version == 1:
            return input_limit, output_limit
        kept = WAD - self.fees[sold]
        # This version makes the limits consistent, and counts inputs both with and without the fee.
        needed = self._sold_for(sold, output_limit)
        if needed <= MAX_RESERVE:
            return (needed * WAD // kept if needed < input_limit else input_limit), output_limit
        most = self._bought_for(sold, input_limit * kept // WAD)
        if most < output_limit:
            output_limit = most
            gross = self._sold_for(sold, output_limit) * WAD
            if gross >= UINT256_LIMIT:
                raise SwapReverts(f"pool {self.key}: the contract's limits overflow")
            input_limit = min(input_limit, gross // kept)
        return input_limit, output_limit

    def state(self) -> dict[str, object]:
        """Return the family's fields in the `swap-market/1` format."""
        pairs = {name: [str(each) for each in getattr(self, name)] for name in _PAIRS}
        called = {"pool_manager": self.pool_manager, "v4_fee_ppm": self.v4_fee_ppm}
        if self.account is None:
            pairs["secured_outputs"] = [str(each) for each in self.secured_outputs]
            account: dict[str, object] = {}
        else:
            account = {name: [str(each) for each in getattr(self.account, name)] for name in _ACCOUNT_PAIRS}
            account["fee_paid_out"] = str(self.account.fee_paid_out)
        vaults: dict[str, object] = {"vaults": [list(each) for each in self.vaults]}
        if any(chain(*self.vault_uses)):
            vaults["vault_uses"] = [[str(paid) for paid in use] for use in self.vault_uses]
        return {"version": self.version, **called, **pairs, **account, **vaults}

    def api_extra_data(self) -> dict[str, int | str]:
        """Return the key with which Uniswap V4's pool manager swaps in the pool, which is its own hook."""
        return {
            "token0": self.tokens[0],
            "token1": self.tokens[1],
            "fee": self.v4_fee_ppm,
            "tickSpacing": _V4_SPACING,
            "hooks": self.address,
        }

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read `version` (1 or 2), `pool_manager`, `v4_fee_ppm`, `vaults`, and the other fields of `state`, which are
        pairs.

        `vaults` has a list of one or two addresses for each token. Optional: `vault_uses`, a pair for each vault. The
        fields of `VaultAccount` replace `secured_outputs`, which older files have.
        """
        check_pair(identity)
        fields = StateFields(state)
        version = fields.integer("version", _VERSIONS[0], _VERSIONS[-1])
        account, secured = None, (0, 0)
        if fields.has("deposits"):
            account = _read_account(fields)
        else:
            secured = _pair(fields, "secured_outputs", RESERVE_BITS)
        pairs = {name: fields.uints(name, 2, bits) for name, bits in _PAIRS.items()}
        _require_at_most(pairs, "prices", _MAX_PRICE)
        _require_at_most(pairs, "concentrations", WAD)
        _require_at_most(pairs, "fees", WAD)
        if not all(pairs["prices"]):
            raise InvalidPoolState("prices", "a price of zero")
        for name in ("reserves", "equilibrium"):
            if any(least > each for least, each in zip(pairs["min_reserves"], pairs[name], strict=True)):
                raise InvalidPoolState("min_reserves", f"above the {name}")
        manager = fields.read("pool_manager", parse_hex, 20)
        v4_fee_ppm = fields.integer("v4_fee_ppm", 0, PPM - 1)
        vaults = fields.read("vaults", _parse_vaults)
        uses = fields.read("vault_uses", _parse_uses) if fields.has("vault_uses") else ((0, 0),) * sum(map(len, vaults))
        if len(uses) != sum(map(len, vaults)):
            raise InvalidPoolState("vault_uses", f"expected one for each of the vaults, not {len(uses)}")
        values = ((first, second) for first, second in pairs.values())
        pool = cls(*identity, version, manager, v4_fee_ppm, vaults, uses, account, secured, *values)
        pool._check_point()
        return pool

    def _check_point(self) -> None:
        """Raise `InvalidPoolState` for reserves below the curve, which the contract never has."""
        below = 0 if self.reserves[0] < self.equilibrium[0] else 1
        reserve, other = self.reserves[below], self.reserves[1 - below]
        if reserve >= self.equilibrium[below] and other >= self.equilibrium[1 - below]:
            return
        try:
            is_below = other < reserve_above(
                self._half(below), min(reserve, self.equilibrium[below]), version=self.version
            )
        except SwapReverts:
            is_below = True
        if is_below:
            raise InvalidPoolState("reserves", "below the curve")


_PAIRS: Final = {
    "reserves": RESERVE_BITS,
    "equilibrium": RESERVE_BITS,
    "min_reserves": RESERVE_BITS,
    "prices": 84,
    "concentrations": 60,
    "fees": 60,
    "debts": RESERVE_BITS,
    "deposit_capacity": RESERVE_BITS,
    "min_deposits": RESERVE_BITS,
    "output_limits": RESERVE_BITS,
    "manager_balances": RESERVE_BITS,
}
"""The pairs of a state, in the order of the class's fields, with their number of bits."""

_ACCOUNT_PAIRS: Final = {"deposits": RESERVE_BITS, "collateral": COLLATERAL_BITS, "collateral_rates": RATE_BITS}
"""The pairs of an account, in the order of its fields, with their number of bits."""

_replace_swapped = fast_replace(EulerSwap, "reserves", "vault_uses", "debts", "account")
_replace_uses = fast_replace(EulerSwap, "vault_uses")


class _Taken(NamedTuple):
    """The least and the most that the vaults may take from an input; both are equal if the paid-out part of the fee is
    known."""

    least: int
    most: int


def _counted(collateral: int) -> int:
    """Return the debt that collateral counts as securing: the collateral must be worth more than the debt."""
    return max(collateral - collateral // KEPT_BACK - 1, 0)


def _with_margin(rate: int) -> int:
    """Return the amount that a withdrawn unit counts as having secured."""
    return rate + rate // KEPT_BACK + 1


def _read_account(fields: StateFields) -> VaultAccount:
    deposits, collateral, rates = (_pair(fields, name, bits) for name, bits in _ACCOUNT_PAIRS.items())
    return VaultAccount(deposits, collateral, rates, fields.integer("fee_paid_out", 0, WAD))


def _pair(fields: StateFields, name: str, bits: int) -> tuple[int, int]:
    first, second = fields.uints(name, 2, bits)
    return first, second


def _parse_vaults(value: object) -> tuple[tuple[str, ...], tuple[str, ...]]:
    lists = [[parse_hex(each, 20) for each in parse_list(inner)] for inner in parse_list(value)]
    if (
        len(lists) != 2
        or not all(1 <= len(each) <= 2 for each in lists)
        or len({*chain(*lists)}) < sum(map(len, lists))
    ):
        raise InvalidValue("two lists of one or two addresses, all different", value)
    return tuple(lists[0]), tuple(lists[1])


def _parse_uses(value: object) -> tuple[tuple[int, int], ...]:
    pairs = [[parse_integer(each, 0, MAX_ROUTE_USE) for each in parse_list(inner)] for inner in parse_list(value)]
    if any(len(each) != 2 for each in pairs):
        raise InvalidValue("pairs of amounts", value)
    return tuple((paid_out, paid_in) for paid_out, paid_in in pairs)


def _require_at_most(pairs: Mapping[str, tuple[int, ...]], name: str, limit: int) -> None:
    if max(pairs[name]) > limit:
        raise InvalidPoolState(name, f"expected at most {limit}")
