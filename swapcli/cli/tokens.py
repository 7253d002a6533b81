"""`swapcli tokens`: what can be named as TOKEN_IN and TOKEN_OUT."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from swapcli.cli import options
from swapcli.cli.options import FormOptions, with_options
from swapcli.cli.render.listing import Listing
from swapcli.cli.render.words import clean
from swapcli.cli.session import Session, open_session
from swapcli.cli.tree import GroupedCommand, new_app
from swapcli.config.sources import flag
from swapcli.model.network import Network
from swapcli.model.token import Token
from swapcli.networks.address import display_address

app = new_app()


@app.command(cls=GroupedCommand)
@with_options
def tokens(
    network: options.NetworkNameOrDefault = None,
    *,
    market: options.MarketFile = None,
    skip_bad_pools: options.SkipBadPools = False,
    store: options.StoreDir = None,
    form: FormOptions,
) -> None:
    """List the tokens of a network's market. Those in most pools come first.

    \b
    Example: swapcli tokens base

    The market is the file that is named, else the store of the network, else the embedded one.
    """
    session = open_session(form, {"market": market, "store_dir": flag("--store", store)})
    held = _held(session, session.network_name(network), skip_bad_pools)
    counted = _by_pools(held)
    session.output.listing(
        Listing(
            columns=("symbol", "name", "decimals", "pools", "address"),
            rows=tuple(_row(token, pools, held.network) for token, pools in counted),
            documents=tuple(_document(token, pools, held.network) for token, pools in counted),
        )
    )


class _Held(NamedTuple):
    """The tokens of a network by address, and in how many pools each is."""

    network: Network
    tokens: Mapping[str, Token]
    pools: Mapping[str, int]


def _held(session: Session, name: str, skip_bad_pools: bool) -> _Held:
    store = session.stored(name) if session.settings.market is None else None
    if store is not None:
        with store:
            return _Held(store.network, store.tokens(), store.register.pools_by_token())
    market = session.market(name, skip_bad_pools=skip_bad_pools)
    counts = Counter(address for pool in market.pools.values() for address in pool.tokens)
    return _Held(market.network, market.tokens, counts)


def _by_pools(held: _Held) -> list[tuple[Token, int]]:
    """Each token with the number of its pools; the native token goes with its wrapped form."""
    tokens, pools = dict(held.tokens), dict(held.pools)
    native, wrapped = held.network.native, held.network.wrapped_native
    if wrapped is not None:
        tokens[native.address] = native
        pools[native.address] = pools.get(wrapped.address, 0)
    counted = [(token, pools.get(token.address, 0)) for token in tokens.values()]
    return sorted(counted, key=lambda each: (-each[1], each[0].symbol.lower(), each[0].address))


def _row(token: Token, pools: int, network: Network) -> tuple[str, ...]:
    address = display_address(token.address, network.kind)
    return clean(token.symbol), clean(token.name), str(token.decimals), str(pools), address


def _document(token: Token, pools: int, network: Network) -> dict[str, object]:
    return {
        "symbol": token.symbol,
        "name": token.name,
        "decimals": token.decimals,
        "pools": pools,
        "address": display_address(token.address, network.kind),
    }
