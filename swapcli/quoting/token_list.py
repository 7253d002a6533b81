"""Search the tokens of a network, which are those with pools and those that the user has added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from swapcli.core.encoding.closest import closest_names, did_you_mean
from swapcli.core.encoding.text import printable, truncate
from swapcli.core.errors import UnknownToken
from swapcli.core.model.network import Network
from swapcli.core.model.swappable_tokens import SwappableToken, swappable_in, swappable_tokens
from swapcli.core.model.token import Token
from swapcli.core.model.transfer_behaviour import TransferBehaviour, TransferKind
from swapcli.core.networks.address import display_address, without_chain
from swapcli.core.networks.catalogue import find_network
from swapcli.core.networks.definition_files import packaged_networks
from swapcli.core.networks.explorer import token_page
from swapcli.core.records import NamedTuple
from swapcli.core.validation.argument_types import checks_arguments
from swapcli.interface.own_document import own_document
from swapcli.quoting.openers.program_setup import open_program_sources

if TYPE_CHECKING:
    from swapcli.interface.document_types import TokenDocumentJson, TransfersJson
    from swapcli.quoting.openers.choose_source import SourceChooser

MAX_SHOWN = 60
"""Characters of a pattern to show in an error."""


class ListedToken(NamedTuple):
    """A token with the number of its pools, and its transfer behaviour if that was tested."""

    token: Token
    pools: int
    network: Network
    behaviour: TransferBehaviour | None = None

    @property
    def address(self) -> str:
        """The token's address, as its network writes addresses."""
        return display_address(self.token.address, self.network.kind)

    @property
    def page(self) -> str | None:
        """The token's page in the network's explorer; None if there is no explorer."""
        return token_page(self.network, self.address)

    @property
    def transfers(self) -> str:
        """A description of how transfers are limited; empty if they are ordinary or were not tested."""
        return self.behaviour.described() if self.behaviour and self.behaviour.is_limiting else ""

    @own_document
    def document(self) -> TokenDocumentJson:
        """Return the token as a row of JSON."""
        document: TokenDocumentJson = {
            "symbol": self.token.symbol,
            "name": self.token.name,
            "decimals": self.token.decimals,
            "pools": self.pools,
            "address": self.address,
        }
        if self.behaviour is None or self.behaviour.kind is TransferKind.UNKNOWN:
            return document
        return {**document, "transfers": _render_transfers(self.behaviour)}


def _render_transfers(behaviour: TransferBehaviour) -> TransfersJson:
    return {
        "kind": behaviour.kind.value,
        "transferFeePpm": behaviour.transfer_fee_ppm or None,
        "buyFeePpm": behaviour.buy_fee_ppm or None,
        "sellFeePpm": behaviour.sell_fee_ppm or None,
    }


class TokenList(NamedTuple):
    """The tokens of a network, starting with the tokens in the most pools."""

    network: Network
    tokens: tuple[ListedToken, ...]

    @own_document
    def document(self) -> list[TokenDocumentJson]:
        """Return the JSON that `swapcli tokens` prints."""
        return [each.document() for each in self.tokens]


class _KnownTokens(NamedTuple):
    """The tokens of a network, and their tested transfer behaviour by address."""

    network: Network
    tokens: Sequence[SwappableToken]
    transfers: Mapping[str, TransferBehaviour]


@checks_arguments
def tokens(
    network: str,
    pattern: str | None = None,
    *,
    settings: Mapping[str, object] | SourceChooser | None = None,
) -> TokenList:
    """Return a network's tokens, including those that the user has added. They come from the first of these that
    exists: the market file in the settings, the network's store, its embedded market, and the tokens that quotes have
    found.

    `pattern` is part of a symbol or name in any case, or the beginning of an address. If no token matches it, raises
    `UnknownToken` with the closest symbols.
    """
    known = _load(open_program_sources(settings), network)
    counted = known.tokens if pattern is None else match_tokens(pattern, known.tokens, known.network)
    listed = (ListedToken(*each, known.network, known.transfers.get(each.token.address)) for each in counted)
    return TokenList(known.network, tuple(listed))


def count_tokens(sources: SourceChooser, network: str) -> int:
    """Return the number of tokens that `tokens` lists."""
    return len(_load(sources, network).tokens)


def match_tokens(pattern: str, counted: Sequence[SwappableToken], network: Network) -> Sequence[SwappableToken]:
    """Return the tokens that match `pattern`, ignoring case; exact symbols come first. Raises `UnknownToken` if none
    match."""
    typed = without_chain(pattern.strip(), network).lower()
    found = [entry for entry in counted if typed and _matches(typed, entry.token)]
    if not found:
        closest = closest_names(typed, dict.fromkeys(token.symbol for token, _ in counted))
        raise UnknownToken(
            f'no token on {network.name} matches "{printable(truncate(pattern, MAX_SHOWN))}"',
            hint=did_you_mean(closest) or f"swapcli tokens {network.name} lists all {len(counted)}",
            details={"token": pattern, "network": network.name, "closest": closest},
        )
    return sorted(found, key=lambda entry: entry.token.symbol.lower() != typed)


def _matches(typed: str, token: Token) -> bool:
    if typed.startswith("0x"):
        # Starknet addresses are also written without their leading zeros.
        return token.address.startswith(typed) or f"0x{token.address[2:].lstrip('0')}".startswith(typed)
    return typed in token.symbol.lower() or typed in token.name.lower()


def _load(sources: SourceChooser, name: str) -> _KnownTokens:
    markets = sources.markets
    store = markets.find_store(name) if markets.setup.settings.market is None else None
    if store is not None:
        with store:
            found, network = store.read_tokens(), store.network
            listed = swappable_tokens(network, found, store.inventory.pool_counts_by_token())
            transfers = store.read_transfers(found)
        return _with_own_tokens(network, listed, found, transfers, _packaged_tokens(network))
    if markets.setup.settings.market is None and not markets.has_embedded(name):
        market = sources.pools.open_finding(name).known().whole()
        packaged: Sequence[Token] = ()  # no market says which of them have pools
    else:
        market = markets.market(name)
        packaged = _packaged_tokens(market.network)
    return _with_own_tokens(market.network, swappable_in(market), market.tokens, market.transfers, packaged)


def _packaged_tokens(network: Network) -> Sequence[Token]:
    """Return the tokens of the program's own definition of a network."""
    return find_network(network.name).tokens if network.name in packaged_networks() else ()


def _with_own_tokens(
    network: Network,
    swappable: Sequence[SwappableToken],
    described: Mapping[str, Token],
    transfers: Mapping[str, TransferBehaviour],
    packaged: Sequence[Token],
) -> _KnownTokens:
    """Return the swappable tokens, and after them the tokens that the user's files and settings add: a live quote looks
    for their pools. The market's description of a token takes precedence.

    The program's own tokens, `packaged`, are listed only if they have pools.
    """
    listed = {each.token.address for each in swappable} | {each.address for each in packaged}
    own = {each.address: described.get(each.address, each) for each in (network.native, *network.tokens)}
    others = [SwappableToken(token, 0) for address, token in own.items() if address not in listed]
    return _KnownTokens(network, (*swappable, *others), {**transfers, **network.transfers})
