"""What is asked of a quote beyond tokens and amount, checked against the network."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from swapcli.api.slippage import SLIPPAGE_RANGE, Generation
from swapcli.config import Secret, Settings
from swapcli.engine.resolve import find_protocols
from swapcli.errors import IntegratorError, InvalidAddress, InvalidOption
from swapcli.model.network import Network
from swapcli.model.order import Order
from swapcli.model.terms import Integrator, Terms, check_shares
from swapcli.model.token import Token
from swapcli.networks.address import parse_address


class Asked(NamedTuple):
    """The options of one command line that are no settings."""

    reverse: bool = False
    direct: bool = False
    certify: bool = False
    destination: str | None = None


class Wishes(NamedTuple):
    """How to route, and how to write the answer. `gas_price_wei` None leaves it to the market."""

    asked: Asked
    generation: Generation
    terms: Terms
    excluded_protocols: frozenset[str]
    max_hops: int
    gas_price_wei: int | None

    def order(self, token_in: Token, token_out: Token, amount: int) -> Order:
        """An order within these limits."""
        return Order(
            token_in=token_in,
            token_out=token_out,
            amount=amount,
            reverse=self.asked.reverse,
            direct=self.asked.direct,
            excluded_protocols=self.excluded_protocols,
            max_hops=self.max_hops,
        )


def understand(asked: Asked, network: Network, settings: Settings, api_key: Callable[[], Secret | None]) -> Wishes:
    """Options and settings on `network`; `api_key` is asked for only where an integrator is named.

    Raises `InvalidInput`, and `IntegratorError` for a missing key or a broken rule.
    """
    generation = _generation(settings.api_version, network)
    destination = None if asked.destination is None else address_of(asked.destination, network, "--destination")
    return Wishes(
        asked=asked,
        generation=generation,
        terms=Terms(
            slippage_ppm=SLIPPAGE_RANGE[generation].check(settings.slippage_ppm),
            destination=destination,
            integrator=_integrator(settings, network, generation, api_key),
            ttl_s=settings.route_ttl_s,
            impact_warning_ppm=settings.impact_warning_ppm,
        ),
        excluded_protocols=find_protocols(settings.exclude_protocols, network),
        max_hops=settings.max_hops,
        gas_price_wei=settings.gas_price_wei,
    )


def _generation(wanted: Generation | None, network: Network) -> Generation:
    if wanted is Generation.V2 and not network.has_v2:
        raise InvalidOption(f"{network.name} has no v2", hint="leave out --api-version, or give v1")
    return wanted or (Generation.V2 if network.has_v2 else Generation.V1)


def _integrator(
    settings: Settings, network: Network, generation: Generation, api_key: Callable[[], Secret | None]
) -> Integrator | None:
    """The integrator, None where none is named; a fee or surplus of zero counts as none."""
    named = settings.integrator
    check_shares(named.fee_bps, named.surplus_bps)
    if not (named.address or named.fee_bps or named.surplus_bps):
        return None
    if api_key() is None:
        raise IntegratorError("integrator options need an API key", hint="set SWAPCLI_API_KEY or api_key_file")
    if named.address is None:
        raise IntegratorError("a fee or surplus needs the wallet that receives it", hint="add --integrator-address")
    if generation is Generation.V1:
        hint = "leave out --api-version v1" if network.has_v2 else f"{network.name} has no v2: leave them out there"
        raise IntegratorError("integrator options exist in v2 only", hint=hint)
    address = address_of(named.address, network, "integrator address")
    return Integrator(address, named.fee_bps, named.surplus_bps)


def address_of(text: str, network: Network, what: str) -> str:
    """The canonical form of an address. Raises `InvalidAddress` that begins with `what` it is."""
    try:
        return parse_address(text, network.kind)
    except InvalidAddress as error:
        raise InvalidAddress(f"{what}: {error.message}", hint=error.hint, details=error.details) from None
