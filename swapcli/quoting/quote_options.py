"""Combine the options of one quote with the settings, check them against the network, and find the accounts that they
name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from swapcli.core.encoding.text import printable
from swapcli.core.errors import IntegratorError, InvalidAddress, InvalidInput, InvalidOption, InvalidSlippage
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.network import Network
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import Integrator, SwapTerms, check_shares
from swapcli.core.model.token import Token
from swapcli.core.networks.address import (
    advise_address,
    check_account,
    display_address,
    is_name,
    is_native,
    parse_network_address,
)
from swapcli.core.records import NamedTuple
from swapcli.interface.quote_parameters import PARAMETERS, QUOTE_PARAMETERS
from swapcli.interface.slippage import SLIPPAGE_RANGE, format_percent
from swapcli.interface.value_types import PERCENTAGE
from swapcli.quoting.config import Secret, Settings, override_settings
from swapcli.quoting.config.loader import ARGUMENT_ORIGIN
from swapcli.quoting.config.source_readers import FLAG_ORIGIN
from swapcli.quoting.resolve import excluded_protocols

if TYPE_CHECKING:
    from swapcli.quoting.openers.choose_source import SourceChooser
    from swapcli.quoting.sources.quote_source import QuoteSource


class QuoteOptions(NamedTuple):
    """The options for routing orders and for writing their quotes. `values` are the fields of orders and requests that
    the quote parameters set, by name."""

    api_version: ApiVersion
    terms: SwapTerms
    excluded_protocols: frozenset[str]
    values: Mapping[str, Any]

    @property
    def reverse(self) -> bool:
        """Whether orders specify the amount to buy."""
        return bool(self.values["reverse"])

    def build_order(self, token_in: Token, token_out: Token, amount: int) -> Order:
        """Return an order with these options as its limits. `amount` is in base units."""
        return Order.from_values(token_in, token_out, amount, self.excluded_protocols, self.values)

    def build_request(self, order: Order) -> QuoteRequest:
        """Return the request for a quote on `order`."""
        return QuoteRequest.from_values(order, self.api_version, self.terms.integrator, self.values)


def parameter_values(settings: Settings, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of orders and requests that the quote parameters set. The values come from the settings, and
    from those options of one quote that are not settings."""
    return {
        each.field: getattr(settings, each.field) if each.setting else options.get(each.name, each.default)
        for each in QUOTE_PARAMETERS
        if each.field
    }


def resolve_options(
    settings: Settings,
    network: Network,
    read_api_key: Callable[[], Secret | None],
    *,
    recipient: str | None = None,
    **options: Any,
) -> QuoteOptions:
    """Return the options for quotes on `network`: the settings, combined with the options of one quote (`QuoteKeywords`
    and `reverse`).

    `recipient` is a canonical address. The API key is read only if an integrator is named. Raises `InvalidInput`,
    `TypeError` for an unknown option, and `IntegratorError` if the key is missing or an integrator rule is violated.
    """
    settings = override_settings(settings, dict(_overrides(options)))
    api_version = _resolve_generation(settings.api_version, network)
    max_pools = options.get("max_pools")
    if max_pools is not None and (not isinstance(max_pools, int) or max_pools < 1):
        raise InvalidOption("a route must have at least one pool", hint="set max_pools to 1 or more")
    return QuoteOptions(
        api_version,
        SwapTerms(
            slippage_ppm=_check_slippage(settings.slippage_ppm, api_version),
            recipient=recipient,
            integrator=_resolve_integrator(settings, network, api_version, read_api_key),
            **warning_limits(settings),
        ),
        _excluded_protocols(settings, network),
        parameter_values(settings, options) | {"allows_only": bool(settings.only_protocols)},
    )


def _excluded_protocols(settings: Settings, network: Network) -> frozenset[str]:
    """Same as `excluded_protocols`; a hint names the settings that apply, which the order does not show."""
    try:
        return excluded_protocols(
            settings.exclude_protocols,
            network,
            extended=settings.extended_protocols,
            only=settings.only_protocols,
        )
    except InvalidOption as error:
        exclude, only = (
            "" if settings.origin(key) in (FLAG_ORIGIN, ARGUMENT_ORIGIN) else f" in the setting {key}"
            for key in ("exclude_protocols", "only_protocols")
        )
        error.hint = f"exclude fewer protocols{exclude}, or allow others{only}"
        raise


def _check_slippage(slippage_ppm: int, api_version: ApiVersion) -> int:
    """Return the slippage. Raises `InvalidSlippage`: a large one was probably meant in basis points."""
    accepted = SLIPPAGE_RANGE[api_version]
    try:
        return accepted.check(slippage_ppm)
    except InvalidSlippage as error:
        if slippage_ppm > accepted.max_ppm:
            percent = format_percent(slippage_ppm)
            error.hint = f"write {percent}bps for {percent} basis points, or 0.5 for half a percent"
        raise


def warning_limits(settings: Settings) -> dict[str, Any]:
    """Return the limits above which a swap causes warnings, by field of `SwapTerms`."""
    return {
        "ttl_s": settings.route_ttl_s,
        "impact_warning_ppm": settings.impact_warning_ppm,
        "slippage_warning_ppm": settings.slippage_warning_ppm,
    }


def _overrides(options: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield the options of one quote that are settings, by key. Raises `TypeError` for anything that is not a quote
    option."""
    for name, value in options.items():
        row = PARAMETERS.get(name)
        if row is None or not row.is_keyword:
            raise TypeError(f"a quote got an unexpected keyword argument '{name}'")
        if row.setting:
            yield name, str(value) if row.value_type is PERCENTAGE and value is not None else value


def _resolve_generation(requested: ApiVersion | None, network: Network) -> ApiVersion:
    if requested is ApiVersion.V2 and not network.has_v2:
        raise InvalidOption(f"{network.name} does not support v2", hint="remove the API version, or use v1")
    return requested or (ApiVersion.V2 if network.has_v2 else ApiVersion.V1)


def _resolve_integrator(
    settings: Settings, network: Network, api_version: ApiVersion, read_api_key: Callable[[], Secret | None]
) -> Integrator | None:
    """Return the integrator, or None if the settings name none; a fee or surplus of zero counts as none."""
    integrator = settings.integrator
    check_shares(integrator.fee_bps, integrator.surplus_bps)
    if not (integrator.address or integrator.fee_bps or integrator.surplus_bps):
        return None
    if read_api_key() is None:
        raise IntegratorError("integrator options need an API key", hint="set SWAPCLI_API_KEY or api_key_file")
    if integrator.address is None:
        raise IntegratorError(
            "an integrator fee or surplus needs the wallet that receives it", hint="add the address of the integrator"
        )
    if api_version is ApiVersion.V1:
        hint = "remove the API version v1" if network.has_v2 else f"remove them: {network.name} does not support v2"
        raise IntegratorError("integrator options exist only in v2", hint=hint)
    from swapcli.interface.integrators import build_integrator

    address = parse_address_option(integrator.address, network, "integrator address")
    return build_integrator(address, integrator.fee_bps, integrator.surplus_bps, network.kind)


def require_swap_terms(recipient: str | None, slippage_ppm: int, network: Network) -> SwapTerms:
    """Return the terms of a swap. Raises `InvalidOption` if `recipient` is missing, `InvalidAddress`."""
    recipient = SwapTerms(slippage_ppm, recipient).required_recipient
    if is_native(recipient, network.kind):
        raise InvalidAddress(f"destination: funds sent to {recipient} are lost", hint="give the address of your wallet")
    check_account(recipient, network.kind)
    return SwapTerms(slippage_ppm, recipient)


def parse_address_option(text: str, network: Network, label: str) -> str:
    """Return the canonical form of an address. The text may name the address's chain, as in `base:0x...`.

    Raises `InvalidAddress`, whose message begins with `label`. It is also raised for an address on a different chain.
    """
    with _labelled(label):
        try:
            return parse_network_address(text, network)
        except InvalidAddress as error:
            error.hint = error.hint or advise_address(text)
            raise


def parse_destination(text: str | None, network: Network) -> str:
    """Return the recipient that a program has given. Raises `InvalidOption` if it has given none, `InvalidAddress`."""
    if text is None:
        raise InvalidOption("a transaction needs a recipient", hint='add destination="0x..."')
    return parse_account(text, network, "destination")


def parse_account(text: str, network: Network, label: str) -> str:
    """Return the canonical address of an account, parsed as `parse_address_option` does. Raises `InvalidAddress`."""
    address = parse_address_option(text, network, label)
    with _labelled(label):
        check_account(address, network.kind)
    return address


@contextmanager
def _labelled(label: str) -> Iterator[None]:
    """Put `label` in front of the message of an `InvalidAddress`."""
    try:
        yield
    except InvalidAddress as error:
        raise InvalidAddress(f"{label}: {error.message}", hint=error.hint, details=error.details) from None


class NamedAccount(NamedTuple):
    """The canonical address of an account. If it was given by its `name`, `note` says whose address it is."""

    address: str
    name: str = ""
    note: str = ""


def find_account(sources: SourceChooser, text: str, network: Network, label: str) -> NamedAccount:
    """Return the account with an address or a name. A node resolves names.

    Raises `InvalidInput`, whose message begins with `label`, and `UpstreamError`.
    """
    if not is_name(text):
        try:
            return NamedAccount(parse_account(text, network, label))
        except InvalidAddress as error:
            error.hint = error.hint or "copy the whole address, or give a name that a node can look up, such as me.eth"
            raise
    from swapcli.quoting.openers.account_names import resolve_account_name

    try:
        found = resolve_account_name(sources.nodes, sources.networks, text, network)
    except InvalidInput as error:
        message = f"{label}: {printable(error.message)}"
        raise type(error)(message, hint=error.hint, details=error.details) from None
    origin = f"its address on Ethereum, because it has none for {network.name}" if found.is_of_ethereum else ""
    service = ", ".join(filter(None, [found.service.title, origin]))
    address = display_address(found.address, network.kind)
    return NamedAccount(found.address, found.name, f"{printable(found.name)} is {address} ({service})")


def check_allowed_recipient(source: QuoteSource, recipient: str, allowed: str | None, label: str) -> None:
    """Raise `UnsafeRecipient` for a recipient at which the output would be lost, unless it is the address `allowed`.
    `label` names the option that allows it."""
    from swapcli.payload.checks.recipients import check_recipient
    from swapcli.quoting.sources.quote_source import known_contract

    addresses = () if allowed is None else (parse_address_option(allowed, source.network, label),)
    check_recipient(recipient, known_contract(source, recipient), source.network, addresses, label)
