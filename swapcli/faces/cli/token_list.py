"""The tokens of a network that the lists of the command line show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from swapcli.core.model.network import Network
from swapcli.core.model.swappable_tokens import SwappableToken, swappable_in, swappable_tokens
from swapcli.core.model.transfer_behaviour import TransferBehaviour
from swapcli.core.records import NamedTuple

if TYPE_CHECKING:
    from swapcli.faces.cli.session import Session


class TokenListing(NamedTuple):
    """The tokens of a network that orders can swap, and their tested transfer behaviour by address."""

    network: Network
    tokens: tuple[SwappableToken, ...]
    transfers: Mapping[str, TransferBehaviour]


def load_token_list(session: Session, name: str, *, skip_bad_pools: bool = False) -> TokenListing:
    """Read the tokens of the market file of the settings, else of the store of a network, else of its embedded market.

    Raises `MarketUnavailable` if there is none of them.
    """
    store = session.markets.find_store(name) if session.settings.market is None else None
    if store is not None:
        with store:
            tokens, network = store.read_tokens(), store.network
            listed = swappable_tokens(network, tokens, store.inventory.pool_counts_by_token())
            return TokenListing(network, listed, {**store.read_transfers(tokens), **network.transfers})
    market = session.markets.market(name, skip_bad_pools=skip_bad_pools)
    return TokenListing(market.network, swappable_in(market), {**market.transfers, **market.network.transfers})
