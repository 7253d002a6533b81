"""Find tokens and protocols by name, symbol or address. Errors suggest the closest names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from swapcli.core.errors import AmbiguousToken, InvalidOption, UnknownProtocol, UnknownToken
from swapcli.core.model.network import Network, ProtocolInfo
from swapcli.core.model.token import Token
from swapcli.core.networks.address import display_address, is_native, parse_address, without_chain

if TYPE_CHECKING:
    from swapcli.core.model.swappable_tokens import SwappableToken

_MAX_SUGGESTED_PROTOCOLS: Final = 10
"""More than the versions of one exchange on any network."""


def find_token(
    name: str,
    network: Network,
    tokens: Mapping[str, Token],
    find_swappable: Callable[[], Iterable[SwappableToken]] | None = None,
) -> Token:
    """Return the token called `name`, a symbol (case-insensitive, but an exact match takes precedence) or an address.

    `tokens` are the market's tokens by lower-case address. The native token is found by its symbol, by the zero address
    and by the forty-`e` address. No other token is found by its symbol. An address may name its chain, as in
    `base:0x...`. Errors suggest tokens that `find_swappable` returns, by default all known tokens. Raises
    `UnknownToken`, `AmbiguousToken`, `InvalidAddress`.
    """
    name = without_chain(name, network)
    if name[:2].lower() == "0x":
        return _find_by_address(name, network, tokens)
    known = _known_tokens(network, tokens)
    found = _find_by_symbol(name, network, known)
    if found is None:
        suggested = [each.token for each in find_swappable()] if find_swappable else [network.native, *known.values()]
        raise _unknown_symbol(name, network, suggested)
    return found


def _known_tokens(network: Network, tokens: Mapping[str, Token]) -> dict[str, Token]:
    """Return the tokens of the catalogue and of the market by address; the market's description wins."""
    return {token.address: token for token in network.tokens} | dict(tokens)


def _find_by_address(text: str, network: Network, tokens: Mapping[str, Token]) -> Token:
    if is_native(text, network.kind):
        return network.native
    address = parse_address(text, network.kind)
    token = tokens.get(address) or next((each for each in network.tokens if each.address == address), None)
    if token is None:
        raise UnknownToken(
            f"no token {display_address(address, network.kind)} on {network.name}",
            hint=f"swapcli tokens {network.name} lists the market's tokens",
            details={"token": text, "network": network.name},
        )
    return token


def _find_by_symbol(symbol: str, network: Network, tokens: Mapping[str, Token]) -> Token | None:
    if symbol.lower() == network.native.symbol.lower():
        return network.native
    case_insensitive = [token for token in tokens.values() if token.symbol.lower() == symbol.lower()]
    matches = [token for token in case_insensitive if token.symbol == symbol] or case_insensitive
    if len(matches) > 1:
        raise AmbiguousToken(symbol, network.name, [display_address(t.address, network.kind) for t in matches])
    return matches[0] if matches else None


def _unknown_symbol(symbol: str, network: Network, suggested: Iterable[Token]) -> UnknownToken:
    from swapcli.core.encoding.closest import closest_names, did_you_mean

    closest = closest_names(symbol, [token.symbol for token in suggested])
    hint = f"{did_you_mean(closest)} Or give an address" if closest else "give the token's address"
    return UnknownToken(
        f'no token "{symbol}" on {network.name}',
        hint=hint,
        details={"token": symbol, "network": network.name, "closest": closest},
    )


def find_protocols(names: Iterable[str], network: Network) -> frozenset[str]:
    """Return the `amm_name`s of protocols given by id ("5"), by name or by display name ("Uniswap V3").

    Case, spaces and punctuation are ignored. Raises `UnknownProtocol` with all unknown names.
    """
    requested = [name.strip() for name in names if name.strip()]
    if not requested:
        return frozenset()
    known = _protocols_by_name(network.protocols)
    unknown = [name for name in requested if _plain(name) not in known]
    if unknown:
        closest = {name: _closest_protocols(name, known) for name in unknown}
        error = UnknownProtocol(
            f"no protocol {', '.join(unknown)} on {network.name}",
            hint=protocol_hint(closest, f"swapcli protocols {network.name}"),
            details={"unknown": unknown, "network": network.name},
        )
        error.closest = closest
        raise error
    return frozenset(known[_plain(name)].amm_name for name in requested)


def protocol_hint(closest: Mapping[str, Sequence[str]], listing: str) -> str:
    """Return the hint for unknown protocols. It names the `closest` protocols to each. For names without any, it adds
    `listing`, the command that lists all protocols."""
    from swapcli.core.encoding.closest import did_you_mean

    questions = {name: did_you_mean(names) for name, names in closest.items() if names}
    shown = [question if len(closest) == 1 else f"{name}: {question}" for name, question in questions.items()]
    if len(questions) < len(closest):
        shown.append(f"{listing} lists them")
    return " ".join(shown)


def excluded_protocols(
    names: Iterable[str], network: Network, *, extended: bool, only: Iterable[str] = ()
) -> frozenset[str]:
    """Return the protocols that an order must not use: the protocols in `names`, and all protocols that it does not
    allow.

    The order allows only the protocols in `only`. If `only` is empty, it allows the protocols in the API's list, or
    with `extended` all protocols. Wrapping is not a venue, so it is excluded only by its name. Raises `UnknownProtocol`
    in the same case as `find_protocols`, and `InvalidOption` if every protocol in `only` is excluded.
    """
    named, allowed = find_protocols(names, network), find_protocols(only, network)
    if not allowed:
        return named if extended else named | network.extended_protocols
    if allowed <= named:
        problem = f"every allowed protocol is also excluded: {', '.join(sorted(allowed))}"
        raise InvalidOption(problem, hint="exclude fewer protocols, or allow others")
    return named | {each.amm_name for each in network.protocols if not each.is_wrapper} - allowed


def unavailable_protocols(exclude: Iterable[str], only: Sequence[str], network: Network) -> frozenset[str]:
    """Return the protocols that an operator's settings exclude from every order on a network.

    The settings are for all networks of a service, so names of protocols that this network does not have are ignored.
    If the network has none of the protocols in `only`, only wrapping is allowed.
    """
    excluded, allowed = _known_protocols(exclude, network), _known_protocols(only, network)
    if not only:
        return excluded
    return excluded | {each.amm_name for each in network.protocols if not each.is_wrapper} - allowed


def _known_protocols(names: Iterable[str], network: Network) -> frozenset[str]:
    """Return the `amm_name`s of the protocols that a network has, as `find_protocols`."""
    requested = [_plain(name) for name in names]
    if not requested:
        return frozenset()
    known = _protocols_by_name(network.protocols)
    return frozenset(known[name].amm_name for name in requested if name in known)


@lru_cache(maxsize=16)  # a service looks names up for each order
def _protocols_by_name(protocols: tuple[ProtocolInfo, ...]) -> Mapping[str, ProtocolInfo]:
    """Return the protocols by id, name and display name, all plain. A name beats the display name of another protocol,
    and a display name that several protocols share finds none of them."""
    shared = Counter(_plain(each.display_name) for each in protocols)
    return MappingProxyType(
        {
            **{name: each for each in protocols if shared[name := _plain(each.display_name)] == 1},
            **{str(each.id): each for each in protocols},
            **{_plain(each.amm_name): each for each in protocols},
        }
    )


def _plain(name: str) -> str:
    """Return a protocol's name without case, spaces and punctuation."""
    return "".join(filter(str.isalnum, name.casefold()))


def _closest_protocols(name: str, known: Mapping[str, ProtocolInfo]) -> list[str]:
    """Return the names of the protocols that `name` may mean, the nearest first.

    All that begin with `name` are among them, up to a limit: a user who excludes only some of them still trades on the
    others.
    """
    from swapcli.core.encoding.closest import closest_names

    typed = _plain(name)
    near = closest_names(typed, known)
    begun = [each for each in closest_names(typed, known, limit=len(known)) if each.startswith(typed)]
    return list(dict.fromkeys(known[each].amm_name for each in (*near, *begun)))[:_MAX_SUGGESTED_PROTOCOLS]
