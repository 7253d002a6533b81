"""Random markets in which half of the pools belong to families whose rates are not those of a constant product.

`mixed_market` replaces every second pool of `tests.support.pools.build_wide_market`'s kind, and `plain_market` has only
constant-product and concentrated pools between the same tokens at the same prices and depths.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from math import exp, expm1, log, sqrt
from typing import NamedTuple

from swapcli.core.model.market import MarketState
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.token import Token
from swapcli.families import family
from swapcli.families.bins.bin_math import BASE_ID
from tests.families.recorded import read_vectors
from tests.generate.modelling.shapes import cryptoswap_state
from tests.support.pools import build_concentrated, build_constant_product, build_market, build_token

WAD = 10**18
HUBS = 5
SHARE_PRICE = 1.07
FEES_PPM = (500, 3000, 10000)
_BINS_A_SIDE = 60
_FLUID_DECIMALS = 12
_FLUID_PRICE_DIGITS = 27
_BOOK_PARAMETERS = {
    "filter_period": 30,
    "decay_period": 600,
    "reduction_factor": 5_000,
    "variable_fee_control": 40_000,
    "protocol_share": 1_000,
    "max_volatility_accumulator": 350_000,
}


class Spot(NamedTuple):
    """A pool's tokens, ordered by address, with their prices in USD, and the value of either side in USD."""

    number: int
    tokens: tuple[Token, Token]
    prices: tuple[float, float]
    value: float
    fee_ppm: int
    rng: random.Random

    def identity(self, protocol: str) -> PoolIdentity:
        addresses, decimals = tuple(t.address for t in self.tokens), tuple(t.decimals for t in self.tokens)
        return PoolIdentity(f"0x{0xF00000 + self.number:040x}", protocol, addresses, decimals, self.fee_ppm)

    def wholes(self) -> tuple[float, float]:
        """Return the amount of either side in whole tokens."""
        return self.value / self.prices[0], self.value / self.prices[1]

    def reserves(self, scale: float = 1.0) -> list[str]:
        wholes = zip(self.wholes(), self.tokens, strict=True)
        return [str(int(scale * whole * 10**token.decimals)) for whole, token in wholes]

    def unit_price(self) -> float:
        """Return the value of one base unit of the first token in base units of the second."""
        return self.prices[0] / self.prices[1] * 10.0 ** (self.tokens[1].decimals - self.tokens[0].decimals)


State = dict[str, object]


def _stable(spot: Spot) -> State:
    """Use the prices as rates, in units of the more expensive token."""
    dearest = max(spot.prices)
    rates = [str(int(price / dearest * WAD)) for price in spot.prices]
    return {"reserves": spot.reserves(), "rates": rates, "amp": spot.rng.choice([10, 100, 1000]) * 1000}


def _surge(spot: Spot) -> State:
    return _stable(spot) | {"max_surge_fee": str(WAD * 95 // 100), "surge_threshold": str(WAD * 3 // 10)}


def _boosted(spot: Spot) -> State:
    """Use shares worth 1.05 assets, with as many shares as there would be assets."""
    state, dearest = _stable(spot), max(spot.prices)
    return state | {
        "pool_tokens": [f"0x{spot.number + 1:036x}{k:04x}" for k in range(2)],
        "share_prices": [["105", "100"]] * 2,
        "rates": [str(int(price * 1.05 / dearest * WAD)) for price in spot.prices],
    }


def _weighted(spot: Spot) -> State:
    weight = spot.rng.randint(20, 80) * WAD // 100
    amounts = zip(spot.wholes(), (weight, WAD - weight), spot.tokens, strict=True)
    return {
        "reserves": [str(int(whole * 2 * part / WAD * 10**token.decimals)) for whole, part, token in amounts],
        "weights": [str(weight), str(WAD - weight)],
        "rates": [str(WAD)] * 2,
    }


def _width(spot: Spot) -> float:
    return spot.rng.uniform(0.05, 0.5)


def _two_clp(spot: Spot) -> State:
    """Use rates that bring the invariant's price near one, because the square roots have 18 decimals."""
    width = _width(spot)
    dearest = max(spot.prices)
    return {
        "reserves": spot.reserves(),
        "rates": [str(int(price / dearest * WAD)) for price in spot.prices],
        "sqrt_alpha": int(exp(-width) * WAD),
        "sqrt_beta": int(exp(width) * WAD),
    }


def _reclamm(spot: Spot) -> State:
    factor = 1.0 / expm1(_width(spot))
    virtual = [str(int(whole * factor * WAD)) for whole in spot.wholes()]
    return {"reserves": spot.reserves(), "rates": [str(WAD)] * 2, "virtual_balances": virtual}


def _eclp(name: str) -> Callable[[Spot], State]:
    recorded = read_vectors("balancer_v3_gyro_eclp")["pools"][0]
    parameters: State = recorded["params_1e18"] | recorded["derived_1e38"]

    def state(spot: Spot) -> State:
        rates = [price / max(spot.prices) for price in spot.prices]
        found: State = parameters | {"reserves": spot.reserves(), "rates": [str(int(rate * WAD)) for rate in rates]}
        pool = family(name).from_state(spot.identity(name)._replace(fee_ppm=0), found)
        inner = pool.curve(*pool.tokens).start_rate / spot.unit_price()
        # The rate of the first token moves the price at these balances to the fair one.
        rates[0] /= inner
        reserve = str(int(int(spot.reserves()[0]) * inner))
        return found | {"rates": [str(int(rate * WAD)) for rate in rates], "reserves": [reserve, spot.reserves()[1]]}

    return state


def _crypto(spot: Spot) -> State:
    pairs = zip(spot.prices, spot.tokens, strict=True)
    values = [Decimal(price).scaleb(-token.decimals) for price, token in pairs]
    return cryptoswap_state(values, int(2 * spot.value), [t.decimals for t in spot.tokens], spot.fee_ppm)


def _bins(spot: Spot) -> tuple[int, int, list[list[object]]]:
    """Return the step, the active bin and the bins, which get thinner with distance."""
    step = {500: 2, 3000: 10, 10000: 25}[spot.fee_ppm]
    price, growth = spot.unit_price(), log(1.0 + step / 1e4)
    active = BASE_ID + round(log(price) / growth)
    x, y = (int(each) for each in spot.reserves())
    shares = [(1.0 + k / 10.0) ** -1.2 for k in range(_BINS_A_SIDE)]
    total = sum(shares)
    bins: list[list[object]] = []
    for k in range(1 - _BINS_A_SIDE, _BINS_A_SIDE):
        part = shares[abs(k)] / total
        bins.append([active + k, str(int(x * part) if k >= 0 else 0), str(int(y * part) if k <= 0 else 0)])
    return step, active, bins


def _infinity_bin(spot: Spot) -> State:
    step, active, bins = _bins(spot)
    return {
        "active_id": active,
        "bin_step": step,
        "bins": bins,
        "pool_id": f"0x{spot.number + 1:064x}",
        "hooks": ZERO_ADDRESS,
        "parameters": f"0x{step << 16:064x}",
    }


def _liquidity_book(spot: Spot) -> State:
    step, active, bins = _bins(spot)
    volatility = {"accumulator": 20_000, "reference": 4_000, "id_reference": active, "updated_at": 1_000}
    parameters = {"base_factor": spot.fee_ppm * 100 // step} | _BOOK_PARAMETERS
    return {
        "active_id": active,
        "bin_step": step,
        "bins": bins,
        "fee_parameters": parameters,
        "volatility": volatility,
        "timestamp": 1_020,
    }


def _fluid(spot: Spot) -> State:
    """Return liquidity on both sides or either side, around the price; the swap limits are wide."""
    real = [int(whole * 10**_FLUID_DECIMALS) for whole in spot.wholes()]
    factor = spot.rng.uniform(2.0, 20.0)
    imaginary = [int(each * factor) for each in real]
    side = [str(each) for each in (*real, *imaginary)]
    price = str(imaginary[1] * 10**_FLUID_PRICE_DIGITS // imaginary[0])
    sides: Mapping[int, State] = {0: {"collateral": side, "debt": side}, 1: {"collateral": side}, 2: {"debt": side}}
    return {
        **sides[spot.rng.randrange(3)],
        "center_price": price,
        "last_price": price,
        "revenue_cut": 10,
        "withdrawable": [str(2**120)] * 2,
        "borrowable": [str(2**120)] * 2,
        "is_native": False,
    }


STATES: Mapping[str, Callable[[Spot], State]] = {
    "cryptoswap": _crypto,
    "weighted": _weighted,
    "balancer_v3_weighted": _weighted,
    "balancer_v2_stable": _stable,
    "balancer_v2_composable": _stable,
    "balancer_v3_stable": _stable,
    "balancer_v3_stable_surge": _surge,
    "balancer_v3_boosted": _boosted,
    "balancer_v2_eclp": _eclp("balancer_v2_eclp"),
    "balancer_v3_eclp": _eclp("balancer_v3_eclp"),
    "balancer_v3_2clp": _two_clp,
    "balancer_v3_reclamm": _reclamm,
    "infinity_bin": _infinity_bin,
    "liquidity_book": _liquidity_book,
    "fluid_t1": _fluid,
}
"""Families of pairs, in turn; a mixed market also has vaults."""


def mixed_market(count: int, seed: int = 1) -> MarketState:
    """Return a market of `count` pools, half of them from the families in `STATES`, with a vault for each hub."""
    return _market(count, seed, mixed=True)


def plain_market(count: int, seed: int = 1) -> MarketState:
    """Return the same market with constant-product and concentrated pools instead, and no vaults."""
    return _market(count, seed, mixed=False)


def random_orders(market: MarketState, count: int, seed: int = 1) -> list[Order]:
    """Return orders between tokens, mostly hubs, worth a hundred dollars to a million."""
    rng, tokens, prices = (
        random.Random(f"orders {seed}"),
        list(market.tokens.values()),
        _prices(len(market.tokens), seed),
    )
    orders: list[Order] = []
    while len(orders) < count:
        i, j = (rng.randrange(HUBS) if rng.random() < 0.5 else rng.randrange(len(tokens)) for _ in range(2))
        if i != j and not {i, j} & set(range(len(tokens) - HUBS, len(tokens))):
            amount = 10 ** rng.uniform(2, 6) / prices[i] * 10 ** tokens[i].decimals
            orders.append(Order(tokens[i], tokens[j], int(amount)))
    return orders


def _prices(count: int, seed: int) -> list[float]:
    """Return the prices of all tokens; the last ones are shares of the hubs."""
    rng = random.Random(f"prices {seed}")
    prices = [2500.0, 1.0, *(10 ** rng.uniform(-3, 4) for _ in range(count - HUBS - 2))]
    return [*prices, *(price * SHARE_PRICE for price in prices[:HUBS])]


def _market(count: int, seed: int, *, mixed: bool) -> MarketState:
    rng = random.Random(f"mixed {seed}")
    total = count // 5 + HUBS
    decimals = [18, 6, *(rng.choice((6, 8, 18, 18)) for _ in range(total - HUBS - 2))]
    decimals += decimals[:HUBS]
    tokens = [build_token(k, places) for k, places in enumerate(decimals)]
    prices = _prices(total, seed)
    pools: list[Pool] = []
    for number in range(count):
        spot = _random_spot(number, tokens, prices, rng)
        is_share = number >= count - HUBS
        if mixed and is_share:
            pools.append(_vault(number - count + HUBS, tokens, prices, decimals))
        elif mixed and number % 2:
            name = list(STATES)[number // 2 % len(STATES)]
            pools.append(family(name).from_state(spot.identity(name), STATES[name](spot)))
        else:
            pools.append(_plain_pool(spot))
    return build_market(pools, tokens)


def _random_spot(number: int, tokens: Sequence[Token], prices: Sequence[float], rng: random.Random) -> Spot:
    """Return a pair of a hub and any token; its price is off by less than the fee."""
    i = rng.randrange(HUBS)
    others = [k for k in (rng.randrange(len(tokens)), 0, 1) if k != i]
    j = number if HUBS <= number < len(tokens) else rng.choice(others)
    i, j = sorted((i, j), key=lambda k: tokens[k].address)
    fee_ppm = rng.choice(FEES_PPM)
    factor = 1.0 + 0.6 * rng.uniform(-1, 1) * fee_ppm / 1e6
    # Each pool has a separate source of random numbers, so that both markets have the same pairs.
    own = random.Random(rng.random())
    return Spot(
        number, (tokens[i], tokens[j]), (prices[i] * factor, prices[j]), 1e4 * rng.random() ** -0.9, fee_ppm, own
    )


def _plain_pool(spot: Spot) -> Pool:
    x, y = (int(each) for each in spot.reserves())
    if spot.rng.random() < 0.3:
        liquidity = int(sqrt(x * y) * spot.rng.uniform(2, 20))
        width = spot.rng.choice((600, 6000))
        return build_concentrated(spot.number, *spot.tokens, liquidity, spot.unit_price(), width, spot.fee_ppm)
    return build_constant_product(spot.number, *spot.tokens, x, y, spot.fee_ppm)


def _vault(hub: int, tokens: Sequence[Token], prices: Sequence[float], decimals: Sequence[int]) -> Pool:
    """Return the vault whose address is that of its share token."""
    share = tokens[len(tokens) - HUBS + hub]
    identity = PoolIdentity(share.address, "vault", (tokens[hub].address, share.address), (decimals[hub],) * 2, 0)
    limit = str(int(1e8 / prices[hub] * 10 ** decimals[hub]))
    state = {"share_price": ["107", "100"], "max_deposit": limit, "max_redeemed": limit}
    return family("vault").from_state(identity, state)
