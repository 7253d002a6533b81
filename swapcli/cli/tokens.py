"""`swapcli tokens`: what can be named as TOKEN_IN and TOKEN_OUT."""

from __future__ import annotations

from collections import Counter

from swapcli.cli import options
from swapcli.cli.options import FormOptions, with_options
from swapcli.cli.render.listing import Listing
from swapcli.cli.render.words import clean
from swapcli.cli.session import open_session
from swapcli.cli.tree import GroupedCommand, new_app
from swapcli.model.market import Market
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
    form: FormOptions,
) -> None:
    """List the tokens of a network's market. Those in most pools come first.

    \b
    Example: swapcli tokens base
    """
    session = open_session(form, {"market": market})
    held = session.market(session.network_name(network), skip_bad_pools=skip_bad_pools)
    counted = _by_pools(held)
    session.output.listing(
        Listing(
            columns=("symbol", "name", "decimals", "pools", "address"),
            rows=tuple(_row(token, pools, held.network) for token, pools in counted),
            documents=tuple(_document(token, pools, held.network) for token, pools in counted),
        )
    )


def _by_pools(market: Market) -> list[tuple[Token, int]]:
    """Each token with the number of its pools; the native token goes with its wrapped form."""
    pools = Counter(address for pool in market.pools.values() for address in pool.tokens)
    tokens = dict(market.tokens)
    native, wrapped = market.network.native, market.network.wrapped_native
    if wrapped is not None:
        tokens[native.address] = native
        pools[native.address] = pools[wrapped.address]
    ranked = sorted(tokens.values(), key=lambda token: (-pools[token.address], token.symbol.lower(), token.address))
    return [(token, pools[token.address]) for token in ranked]


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
