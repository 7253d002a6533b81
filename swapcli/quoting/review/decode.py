"""Decode payloads: find the market for each payload, and compare the payload with a fresh quote on that market."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing, suppress
from types import MappingProxyType
from typing import TYPE_CHECKING

from swapcli.core.errors import InvalidInput, InvalidOption, MarketError, SwapcliError, UnknownNetwork
from swapcli.core.model.network import INTERFACE_DIALECTS, Network
from swapcli.core.model.swap_terms import Integrator
from swapcli.core.records import NamedTuple
from swapcli.core.validation.argument_types import checks_arguments
from swapcli.interface.slippage import ANY_SLIPPAGE
from swapcli.payload.decode.decode_payload import decode_payload, describes_other, guess_network, parse_value
from swapcli.payload.decode.documents import PayloadInput, parse_payload
from swapcli.payload.review.reviewed_payload import Signing, SlippageLimits
from swapcli.quoting.config import network_names_from, override_settings
from swapcli.quoting.openers.choose_source import SourceChooser, open_source_chooser
from swapcli.quoting.quote_options import find_account, parse_address_option
from swapcli.quoting.review.decoded_payload import DecodedPayload
from swapcli.quoting.review.document_review import review_document
from swapcli.quoting.review.node_warnings import read_node
from swapcli.quoting.review.payload_review import review_payload
from swapcli.quoting.review.unread_payload import unread_payload
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.markets.embedded import embedded_names

if TYPE_CHECKING:
    from swapcli.core.model.decoded_call import DecodedCall
    from swapcli.core.model.market import MarketState
    from swapcli.quoting.quote_keywords import Percentage
    from swapcli.quoting.sources.quote_source import QuoteSource


class PayloadFacts(NamedTuple):
    """Facts about a payload that the user gives, and that override the facts in the payload. `value` is in wei."""

    network: str | None = None
    to: str | None = None
    value: str | None = None
    sender: str | None = None
    destination: str | None = None


def _begin(network: str) -> None:
    del network


class PayloadDecoder(NamedTuple):
    """A decoder of payloads, on the market of their network, which `sources` opens.

    `labels` are the names of the facts in errors, if they differ from the names of the fields. `starts_quote` is called
    with the network's name before the network's market is opened.
    """

    sources: SourceChooser
    labels: Mapping[str, str] = MappingProxyType({})
    starts_quote: Callable[[str], object] = _begin

    def decode(self, text: str, facts: PayloadFacts) -> DecodedPayload:
        """Decode a payload. If a defect of swapcli prevents that, the result names the defect as a danger.

        Raises `InvalidInput`, `InvalidOption`, `UpstreamError`.
        """
        try:
            with ExitStack() as opened:
                return self._decode(text, facts, opened)
        except (SwapcliError, OSError):
            raise
        except Exception as error:
            return unread_payload(error)

    def _decode(self, text: str, facts: PayloadFacts, opened: ExitStack) -> DecodedPayload:
        value = None if facts.value is None else parse_value(facts.value, self._label("value"))
        given = parse_payload(text).with_own(facts.to, facts.sender, value)
        name = self._choose_network(given, facts.network)
        source = None if name is None else opened.enter_context(closing(self._open(self.sources, name)))
        network = source.network if source else None
        if network is not None and describes_other(network, given):
            raise InvalidInput(f"this is not a payload for {network.name}", hint="set its network with --network")
        call = decode_payload(given.payload, network.wrapped_native_address if network else None)
        signing = Signing(value=given.payload.value)
        if source is not None:
            other = self._open_for_dialect(source.network, call)
            source = source if other is None else opened.enter_context(closing(other))
            signing = self._parse_signing(given, facts.destination, source.network)
        return self._review(call, given, source, signing)

    def _review(
        self, call: DecodedCall, given: PayloadInput, source: QuoteSource | None, signing: Signing
    ) -> DecodedPayload:
        nodes, settings, now_s = self.sources.nodes, self.sources.setup.settings, SYSTEM_CLOCK.now_s()
        limits = SlippageLimits(ANY_SLIPPAGE.check(settings.slippage_ppm), settings.max_slippage_ppm)
        review = review_payload(call, source, signing, now_s, limits, price_request=nodes.rules.price_request)
        review, usual_price_wei = read_node(review, given, nodes)
        review = review_document(review, given, source, now_s, limits, usual_price_wei)
        return DecodedPayload(review, source.state_source.network_time_s(now_s) if source else now_s)

    def _label(self, name: str) -> str:
        return self.labels.get(name, name)

    def _choose_network(self, given: PayloadInput, named: str | None) -> str | None:
        """Return the named network, otherwise that of the transaction, of the settings, or one that fits; None if
        unknown.

        A market file has one network, which is then used.
        """
        settings, markets = self.sources.setup.settings, self.sources.markets
        if settings.market is not None and named is None:
            market = markets.file_market()
            return market.network.name if market else None
        name = named or given.network or self._named_by_chain(given) or settings.network
        if name is not None:
            return name
        guessed = self._guess(given)
        if guessed is not None:
            self.sources.setup.warn(f"read as a payload for {guessed}; --network sets a different network")
        return guessed

    def _named_by_chain(self, given: PayloadInput) -> str | None:
        """Return the network with the first chain id of the document; None if no network has it.

        A message for another chain may come with a transaction that names none: then the network that fits is used.
        """
        for chain_id in given.chain_ids[:1]:
            with suppress(UnknownNetwork):
                name = self.sources.networks.find(str(chain_id)).name
                return name if given.payload.message or given.payload.chain_id is not None else self._guess(given, name)
        return None

    def _guess(self, given: PayloadInput, *preferred: str) -> str | None:
        """Return the network that fits; if several fit equally, a preferred one, otherwise a default one."""
        settings = self.sources.setup.settings
        meant = preferred or network_names_from(settings)
        others = [each for each in network_names_from(settings, everything=True) if each not in meant]
        return guess_network(given, meant, others, self._market_for_guess) or next(iter(preferred), None)

    def _market_for_guess(self, name: str) -> MarketState:
        """Return the known parts of a network, without reading a node or a store."""
        markets = self.sources.markets
        return markets.market(name) if name in embedded_names() else markets.without_pools(name)

    def _open(self, sources: SourceChooser, name: str) -> QuoteSource:
        """Return the source of a network; without pools if none come with the program or from elsewhere."""
        self.starts_quote(name)
        try:
            return sources.open(name)
        except MarketError:
            if sources.setup.settings.market is not None or name in embedded_names():
                raise
        return sources.pools.open_without_pools(name)

    def _open_for_dialect(self, network: Network, call: DecodedCall) -> QuoteSource | None:
        """Return the source that trades like the router of the call; None if the network's own router does, or if that
        router is not known there. Quotes must not choose a router other than the payload's."""
        used, own = call.dialect, network.router_dialect
        if used is None or self.sources.service_url is not None:
            return None
        if not network.chooses_router and (used == own or {used, own} == {*INTERFACE_DIALECTS}):
            return None
        settings = override_settings(self.sources.setup.settings, {"router_dialect": used})
        with suppress(InvalidOption):
            return self._open(self.sources.with_settings(settings), network.name)
        return None

    def _parse_signing(self, given: PayloadInput, destination: str | None, network: Network) -> Signing:
        """Parse the addresses of a transaction. Raises `InvalidAddress`."""
        payload, integrator = given.payload, self.sources.setup.settings.integrator
        to = None if payload.to is None else parse_address_option(payload.to, network, self._label("to"))
        sender = self._find_account(payload.sender, network, "sender")
        recipient = self._find_account(destination, network, "destination")
        if integrator.address is None:
            return Signing(to, payload.value, sender, recipient)
        address = parse_address_option(integrator.address, network, "integrator address")
        earns = Integrator(address, integrator.fee_bps, integrator.surplus_bps)
        return Signing(to, payload.value, sender, recipient, earns)

    def _find_account(self, text: str | None, network: Network, name: str) -> str | None:
        if text is None:
            return None
        found = find_account(self.sources, text, network, self._label(name))
        if found.note:
            self.sources.setup.warn(found.note)
        return found.address


@checks_arguments
def decode(
    payload: str,
    *,
    network: str | None = None,
    to: str | None = None,
    value: int | str | None = None,
    sender: str | None = None,
    destination: str | None = None,
    slippage: Percentage | None = None,
    offline: bool = False,
    settings: Mapping[str, object] | None = None,
    warn: Callable[[str], object] | None = None,
) -> DecodedPayload:
    """Return the effect of a payload, compared with a fresh quote for the same order, to read before you sign the
    payload.

    `payload` is calldata, felts, a message to sign, or a document with any of them, in a form that `swapcli decode`
    accepts. `network` is detected by default. `to`, `value` (in wei) and `sender` complete the transaction or replace
    its fields. `destination` is the intended recipient, by default the sender. `slippage` is how far, in percent, the
    minimum may be below the quote. `settings`, `warn` and `offline` are the same as in `Market.open`. Example:

        decoded = swapcli.decode(calldata, network="base", sender=account)
        if decoded.dangers:
            raise SystemExit(decoded.verdict.message)

    Raises `InvalidInput` for an unreadable payload, `InvalidAddress`, `InvalidOption`, `UnknownNetwork`, `ConfigError`,
    `MarketError` and `UpstreamError`.
    """
    from swapcli.quoting.openers.program_setup import program_setup

    given = {} if slippage is None else {"slippage": str(slippage)}
    setup = program_setup({**(settings or {}), **given}, offline=offline, warn=warn)
    facts = PayloadFacts(network, to, None if value is None else str(value), sender, destination)
    return PayloadDecoder(open_source_chooser(setup)).decode(payload, facts)
