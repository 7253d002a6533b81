"""The sample orders of a run, which are the same in every run on the same pools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from swapcli.core.model.swappable_tokens import swappable_in
from swapcli.core.records import NamedTuple

if TYPE_CHECKING:
    from swapcli.core.model.market import MarketState
    from swapcli.core.model.token import Token

MAX_ORDERS: Final = 200
"""Maximum number of orders, as a guard against typing errors. Chosen."""
_TOKENS: Final = 6
"""Number of tokens: enough for 30 pairs, and few enough that all of them are main tokens. Chosen."""
_STABLECOINS: Final = 2
"""Number of stablecoins. Further stablecoins behave in the same way. Chosen."""
_SIZES_USD: Final = (1_000, 100, 10_000, 10, 100_000)
"""Sizes from an everyday swap to one that is split over many pools. Chosen."""


class SampleOrder(NamedTuple):
    """An order to quote. Its size is in dollars, so that it stays comparable as prices change."""

    token_in: Token
    token_out: Token
    size_usd: int

    @property
    def id(self) -> str:
        """An identifier of the order that is the same in every run."""
        return f"{self.token_in.address}-{self.token_out.address}-{self.size_usd}"

    @property
    def title(self) -> str:
        """The order in words."""
        return f"${self.size_usd:,} of {self.token_in.symbol} → {self.token_out.symbol}"


def choose_orders(market: MarketState, count: int) -> tuple[SampleOrder, ...]:
    """Return up to `count` orders between the main tokens of a market, in several sizes."""
    return tuple(order for order, _ in zip(_orders(main_tokens(market)), range(count), strict=False))


def main_tokens(market: MarketState) -> tuple[Token, ...]:
    """Return the native token, two stablecoins, and other main tokens, in the order of the network's own list.

    Tokens outside the list follow, starting with the tokens in the most pools. The native token stands for its wrapped
    form.
    """
    network = market.network
    swappable = {each.token.address: each.token for each in swappable_in(market)}
    native = network.native.address
    wrapped = network.wrapped_native.address if network.wrapped_native else native
    listed = (*(each.address for each in network.tokens), *swappable)
    stable = [address for address in dict.fromkeys(listed) if address in {*network.stablecoins} & swappable.keys()]
    order = (native, *stable[:_STABLECOINS], *(each for each in listed if each not in stable), *stable)
    chosen = dict.fromkeys(each for each in order if each in swappable and (each == native or each != wrapped))
    return tuple(swappable[address] for address in chosen)[:_TOKENS]


def _orders(tokens: tuple[Token, ...]) -> Iterator[SampleOrder]:
    """Yield every pair in every size. Pairs of the first tokens come first, each in a different size."""
    places = range(len(tokens))
    pairs = sorted(((a, b) for a in places for b in places if a != b), key=lambda pair: (sum(pair), pair))
    for turn in range(len(_SIZES_USD)):
        for number, (sold, bought) in enumerate(pairs):
            yield SampleOrder(tokens[sold], tokens[bought], _SIZES_USD[(number + turn) % len(_SIZES_USD)])
