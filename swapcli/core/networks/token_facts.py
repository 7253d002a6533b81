"""Compare a token in a definition, store or market with its contract.

Decimals must be equal: otherwise amounts are wrong by a power of ten. The symbol of a token that the user has listed
must name the same token. Letter case may differ, look-alikes that issuers use are allowed, and so is a suffix for
bridged tokens ("USDC.e" for a contract whose symbol is "USDC"). A contract that returns no symbol is not a
contradiction.
"""

from __future__ import annotations

from typing import Final

from swapcli.core.errors import ConfigError
from swapcli.core.model.network import Network
from swapcli.core.model.token import Token
from swapcli.core.networks.address import display_address
from swapcli.core.records import NamedTuple

_LOOK_ALIKES: Final = str.maketrans({"₮": "T", "Ξ": "E", "₿": "B", "₳": "A", "$": "S"})
"""Characters that issuers use in place of letters, as in USD₮0."""


class TokenFacts(NamedTuple):
    """The facts that a token's own contract returns. `decimals` is None and `symbol` empty if the contract does not
    return them."""

    decimals: int | None
    symbol: str = ""


def check_token_facts(network: Network, listed: Token, facts: TokenFacts, *, checks_symbol: bool) -> None:
    """Raise `ConfigError` if a token's contract contradicts the `listed` facts."""
    address = display_address(listed.address, network.kind)
    is_listed = listed.address in {network.wrapped_native_address, *(token.address for token in network.tokens)}
    where = f"the definition of {network.name}" if is_listed else f"the market of {network.name}"
    if facts.decimals is not None and facts.decimals != listed.decimals:
        raise ConfigError(
            f"{listed.symbol} ({address}) has {facts.decimals} decimals on the chain, but {listed.decimals} in {where}",
            hint=f"correct the decimals in networks.{network.name}.tokens" if is_listed else "use a different market",
            details={"token": listed.address, "listed": listed.decimals, "chain": facts.decimals},
        )
    if checks_symbol and not names_same_token(listed.symbol, facts.symbol):
        raise ConfigError(
            f'the token {address} is called "{facts.symbol}" on the chain, but "{listed.symbol}" in {where}',
            hint=f"correct the symbol or the address in networks.{network.name}.tokens",
            details={"token": listed.address, "listed": listed.symbol, "chain": facts.symbol},
        )


def contradicts(listed: Token, facts: TokenFacts) -> bool:
    """Return whether a token's contract has different decimals from the decimals in `listed`."""
    return facts.decimals is not None and facts.decimals != listed.decimals


def names_same_token(listed: str, symbol: str) -> bool:
    """Return whether a listed symbol can mean the token whose contract has the symbol `symbol`."""
    own, said = _plain(listed), _plain(symbol)
    return not said or own == said or own.startswith(f"{said}.")


def _plain(symbol: str) -> str:
    return symbol.strip().translate(_LOOK_ALIKES).casefold()
