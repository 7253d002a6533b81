"""Pools as generators of programs see them, and what they would pay."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from swapcli.core.errors import PoolError
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.families.protocol_fees import DYNAMIC_FEE
from tests.chain.contract_fixture import CENTS, DECIMALS, WETH
from tests.payload.evm.programs.world import ProgramWorld


class Venue(NamedTuple):
    """A pool with the currencies that it is called with, of which the native one has the zero address."""

    key: str
    protocol: str
    currencies: tuple[str, ...]
    fee: int = 0
    spacing: int = 0
    hooks: str = ZERO_ADDRESS

    def others(self, currency: str) -> list[str]:
        """Return the currencies that are sold for one."""
        return [each for each in self.currencies if each != currency]


class Venues:
    """The pools of a world, on the state on which programs are executed first."""

    def __init__(self, world: ProgramWorld, protocols: frozenset[str] | None = None) -> None:
        self.pools: dict[str, Pool] = {**world.market.pools}
        self.wrapped = world.address(WETH)
        self.tokens = tuple(token.address for token in world.tokens.values())
        self._symbols = {token.address: symbol for symbol, token in world.tokens.items()}
        self.venues = tuple(
            Venue(
                place.key,
                place.protocol,
                tuple(ZERO_ADDRESS if place.native and each == self.wrapped else each for each in place.tokens),
                DYNAMIC_FEE if place.has_dynamic_fee else place.fee_ppm,
                place.tick_spacing,
                place.hooks,
            )
            for place in world.places
            if protocols is None or place.protocol in protocols
        )

    def selling(self, currency: str, protocol: str | None = None) -> list[Venue]:
        """Return the pools that buy a currency."""
        return [
            each
            for each in self.venues
            if currency in each.currencies and (protocol is None or each.protocol == protocol)
        ]

    def random_amount(self, rng: Random, currency: str) -> int:
        """A dollar to a hundred thousand, in eleven sizes, so that quotes are remembered."""
        symbol = self._symbols.get(currency, WETH)
        return int(10 ** (rng.randint(4, 14) / 2) * 10 ** DECIMALS[symbol] / CENTS[symbol])


class Trial:
    """Swaps one after the other, on a copy of the pools."""

    def __init__(self, venues: Venues) -> None:
        self._pools, self._wrapped = {**venues.pools}, venues.wrapped

    def swap(self, venue: Venue, sold: str, bought: str, amount: int) -> int:
        """Return what a pool pays, and change it; 0 if it would not."""
        if amount <= 0:
            return 0
        token_in, token_out = (self._wrapped if each == ZERO_ADDRESS else each for each in (sold, bought))
        try:
            paid, self._pools[venue.key] = self._pools[venue.key].swap(token_in, token_out, amount)
        except (PoolError, OverflowError):
            return 0
        return paid
