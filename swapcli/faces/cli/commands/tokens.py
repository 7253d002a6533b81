"""`swapcli tokens`: list the tokens of a network, as TOKEN_IN and TOKEN_OUT take them."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, cast

from swapcli.core.encoding.closest import closest_names, did_you_mean
from swapcli.core.encoding.text import printable, truncate
from swapcli.core.errors import UnknownToken
from swapcli.core.model.network import Network
from swapcli.core.model.swappable_tokens import SwappableToken
from swapcli.core.model.token import Token
from swapcli.core.model.transfer_behaviour import TransferKind, behaviour_document
from swapcli.core.networks.address import display_address, without_chain
from swapcli.core.networks.explorer import token_page
from swapcli.faces.cli import options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.options import OutputOptions, argument, settings_of
from swapcli.faces.cli.output import LIST_FORMATS
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.session import open_session
from swapcli.faces.cli.token_list import TokenListing, load_token_list

if TYPE_CHECKING:
    from swapcli.interface.document_types import TokenDocumentJson, TransfersJson

COLUMNS = (
    Column("symbol"),
    Column("name", drop_order=3),
    Column("decimals", is_whole=True, drop_order=1),
    Column("pools", is_whole=True, drop_order=2),
    Column("address", is_whole=True),
    Column("transfers"),
)
MAX_SHOWN = 60
"""Characters of a pattern in an error."""

app = CommandApp()


@app.command(formats=LIST_FORMATS)
def tokens(
    network: options.NetworkNameOrDefault = None,
    pattern: Annotated[
        str | None, argument("[PATTERN]", "Part of a symbol or a name, or the beginning of an address.")
    ] = None,
    *,
    market: options.MarketFile = None,
    skip_bad_pools: options.SkipBadPools = False,
    store: options.StoreDir = None,
    output: OutputOptions,
) -> None:
    """List the tokens of a network. Those in the most pools come first.

    \b
    Examples:
      swapcli tokens base
      swapcli tokens base usd

    Reads the market file if --market names one, else the store of the network, else the embedded market.
    """
    session = open_session(output, settings_of(market=market, store=store), formats=LIST_FORMATS)
    listed = load_token_list(session, session.network_name(network), skip_bad_pools=skip_bad_pools)
    counted: Sequence[SwappableToken] = listed.tokens
    if pattern is not None:
        counted = match_tokens(pattern, counted, listed.network)
    has_transfers = any(behaviour.is_limiting for behaviour in listed.transfers.values())
    session.output.print_list(
        ListView(
            columns=COLUMNS[: len(COLUMNS) - (not has_transfers)],
            rows=tuple(_row(token, pools, listed)[: len(COLUMNS) - (not has_transfers)] for token, pools in counted),
            documents=tuple(_document(token, pools, listed) for token, pools in counted),
            links=tuple(_links(token, listed.network) for token, _ in counted),
        )
    )


def match_tokens(pattern: str, counted: Sequence[SwappableToken], network: Network) -> Sequence[SwappableToken]:
    """Return the tokens that match in any case, those with this very symbol first.

    Raises `UnknownToken`, with the nearest symbols, if there is none.
    """
    typed = without_chain(pattern.strip(), network).lower()
    found = [entry for entry in counted if typed and _matches(typed, entry.token)]
    if not found:
        closest = closest_names(typed, dict.fromkeys(token.symbol for token, _ in counted))
        raise UnknownToken(
            f'no token of {network.name} matches "{printable(truncate(pattern, MAX_SHOWN))}"',
            hint=did_you_mean(closest) or f"swapcli tokens {network.name} lists all {len(counted)}",
            details={"token": pattern, "network": network.name, "closest": closest},
        )
    return sorted(found, key=lambda entry: entry.token.symbol.lower() != typed)


def _matches(typed: str, token: Token) -> bool:
    if typed.startswith("0x"):
        # Addresses of Starknet are also written without the zeros at their beginning.
        return token.address.startswith(typed) or f"0x{token.address[2:].lstrip('0')}".startswith(typed)
    return typed in token.symbol.lower() or typed in token.name.lower()


def _row(token: Token, pools: int, listed: TokenListing) -> tuple[str, ...]:
    address = display_address(token.address, listed.network.kind)
    behaviour = listed.transfers.get(token.address)
    transfers = behaviour.described() if behaviour and behaviour.is_limiting else ""
    return printable(token.symbol), printable(token.name), str(token.decimals), str(pools), address, transfers


def _links(token: Token, network: Network) -> dict[str, str]:
    page = token_page(network, display_address(token.address, network.kind))
    return {"symbol": page, "address": page} if page else {}


def _document(token: Token, pools: int, listed: TokenListing) -> "TokenDocumentJson":
    document: TokenDocumentJson = {
        "symbol": token.symbol,
        "name": token.name,
        "decimals": token.decimals,
        "pools": pools,
        "address": display_address(token.address, listed.network.kind),
    }
    behaviour = listed.transfers.get(token.address)
    if behaviour is None or behaviour.kind is TransferKind.UNKNOWN:
        return document
    return {**document, "transfers": cast("TransfersJson", behaviour_document(behaviour))}
