"""`swapcli decode`: say what a payload does, and warn of what differs from a fresh quote."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated

from swapcli.core.errors import InvalidInput, InvalidOption, MarketError, UnknownNetwork
from swapcli.core.model.decoded_call import DecodedCall
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import INTERFACE_DIALECTS, Network
from swapcli.core.model.swap_terms import Integrator
from swapcli.faces.cli import exit_codes
from swapcli.faces.cli.account_options import RECIPIENT, SENDER, parse_account_option
from swapcli.faces.cli.command_app import CommandApp, UsageError
from swapcli.faces.cli.files import STDIN, is_regular, is_stdin_terminal, read_bounded_file
from swapcli.faces.cli.options import (
    OUTPUT,
    ROUTING,
    OutputOptions,
    Slippage,
    SourceOptions,
    argument,
    option,
    settings_of,
)
from swapcli.faces.cli.output import OutputFormat
from swapcli.faces.cli.session import Session, open_session
from swapcli.payload.decode.decode_payload import decode_payload, describes_other, guess_network, parse_value
from swapcli.payload.decode.documents import PayloadInput, parse_payload
from swapcli.payload.decode.given_transaction import MAX_BYTES
from swapcli.payload.review.reviewed_payload import PayloadReview, Signing, SlippageLimits
from swapcli.quoting.config import network_names_from, override_settings
from swapcli.quoting.quote_options import parse_address_option
from swapcli.quoting.review.document_review import review_document
from swapcli.quoting.review.node_warnings import read_node
from swapcli.quoting.review.payload_review import review_payload
from swapcli.quoting.review.unread_payload import unread_review
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.markets.embedded import embedded_names

if TYPE_CHECKING:
    from swapcli.quoting.market import Market

PUBLIC = ()

app = CommandApp()


def _refuse_unread(error: Exception, *, output: OutputOptions, **_: object) -> int:
    """Print the danger of a payload that swapcli fails to read because of a defect, and return the exit status."""
    session, review = open_session(output), unread_review(error)
    if session.output.format is OutputFormat.JSON:
        from swapcli.faces.cli.commands.decode.document import render_review

        session.output.print_document(render_review(review))
    else:
        from swapcli.faces.cli.commands.decode.view import build_decode_view

        session.output.warn(review.warnings)
        session.output.print_details(build_decode_view(review, SYSTEM_CLOCK.now_s()))
    return _finish(session, review, is_strict=False)


@app.command(on_defect=_refuse_unread)
def decode(
    calldata: Annotated[
        str,
        argument("[CALLDATA]", "Calldata, felts or transactions, or a file of them; - or none is stdin."),
    ] = STDIN,
    *,
    network: Annotated[
        str | None, option("--network", "Network of the transaction.  [default: guessed]", ROUTING, "NETWORK")
    ] = None,
    to: Annotated[str | None, option("--to", "Contract that the transaction calls.", ROUTING, "ADDRESS")] = None,
    value: Annotated[str | None, option("--value", "Value of the transaction, in wei.", ROUTING, "WEI")] = None,
    sender: Annotated[str | None, option("--from", "Sender or its ENS name.", ROUTING, "ADDRESS")] = None,
    destination: Annotated[
        str | None, option("--destination", "Recipient of the output.  [default: --from]", ROUTING, "ADDRESS")
    ] = None,
    slippage: Slippage = None,
    strict: Annotated[bool, option("--strict", "Exit with status 7 also if the verdict is unknown.", OUTPUT)] = False,
    source: SourceOptions,
    output: OutputOptions,
) -> int:
    """Say what a payload does before you sign it.

    \b
    Example:
      swapcli calldata base ETH USDC 1 --offline --json \\
        --destination 0x1111111111111111111111111111111111111111 \\
        | swapcli decode -

    It reads calls of all router dialects, approvals and messages to sign, alone, in lists of transactions, or in the
    output of swapcli, nodes and wallets (`swapcli help transactions`). It compares recipient, minimum, deadline, value,
    router, tokens and pools with a fresh quote of the same order. Each difference is a warning.

    The first line is the verdict: DANGER (exit status 7), Unknown, or No danger found. "Unknown" lists the missing
    facts, such as your account. Give --from and a node to compare everything.
    """
    flags = settings_of(source, slippage=slippage)
    session = open_session(output, flags, rpc_url=source.rpc_url, offline=source.offline)
    if calldata == STDIN:
        if is_stdin_terminal():
            raise UsageError("no calldata given: give it, or pipe it in")
        if str(session.settings.market) == STDIN:
            raise InvalidOption("calldata and --market cannot both be read from stdin")
        calldata = read_bounded_file(STDIN, 4 * MAX_BYTES).decode(errors="replace")
    elif is_regular(calldata):
        calldata = read_bounded_file(calldata, 4 * MAX_BYTES).decode(errors="replace")
    given = parse_payload(calldata)
    given = given.with_own(to, sender, None if value is None else parse_value(value))
    value_wei = given.payload.value
    name = _choose_network(session, given, network)
    market = None if name is None else _open_market(session, name, skip_bad_pools=source.skip_bad_pools)
    found = market.network if market else None
    if found is not None and describes_other(found, given):
        raise InvalidInput(f"this is not a payload for {found.name}", hint="name its own network with --network")
    call = decode_payload(given.payload, found.wrapped_native_address if found else None)
    if market is not None:
        market = _for_dialect(session, market, call, skip_bad_pools=source.skip_bad_pools)
        found = market.network
    signing = Signing(value=value_wei)
    if found is not None:
        signing = _parse_signing(session, given, destination, found)._replace(value=value_wei)
    fresh_source = market.source if market else None
    now_s = SYSTEM_CLOCK.now_s()
    limits = SlippageLimits(session.settings.slippage_ppm, session.settings.max_slippage_ppm)
    price_request = session.nodes.rules.price_request
    review = review_payload(call, fresh_source, signing, now_s, limits, price_request=price_request)
    review, usual_price_wei = read_node(review, given, session.nodes)
    review = review_document(review, given, fresh_source, now_s, limits, usual_price_wei)
    if session.output.format is OutputFormat.JSON:
        from swapcli.faces.cli.commands.decode.document import render_review

        session.output.print_document(render_review(review))
        return _finish(session, review, is_strict=strict)
    from swapcli.faces.cli.commands.decode.view import build_decode_view

    session.output.warn(review.warnings)
    network_s = fresh_source.state_source.network_time_s(now_s) if fresh_source else now_s
    session.output.print_details(build_decode_view(review, network_s))
    return _finish(session, review, is_strict=strict)


def _finish(session: Session, review: PayloadReview, *, is_strict: bool) -> int:
    """Print a note with the codes that forbid signing, and return the exit status. Doubts count if `is_strict`."""
    if review.dangers:
        session.output.note(f"do not sign this: {', '.join(review.dangers)}")
    elif is_strict and review.doubts:
        session.output.note(f"exit status 7 because of --strict: {', '.join(review.doubts)}")
    else:
        return exit_codes.OK
    session.output.flush_notes()
    return exit_codes.UNSAFE


def _for_dialect(session: Session, market: "Market", call: DecodedCall, *, skip_bad_pools: bool) -> "Market":
    """Return the market as the router of the call trades it; the same if that router is not known there."""
    network = market.network
    is_same = call.dialect in (None, network.router_dialect)
    if (
        is_same
        or {call.dialect, network.router_dialect} == {*INTERFACE_DIALECTS}
        or session.sources.service_url is not None
    ):
        return market
    other = session.with_settings(override_settings(session.settings, {"router_dialect": call.dialect}))
    with suppress(InvalidOption):
        return _open_market(other, network.name, skip_bad_pools=skip_bad_pools)
    return market


def _open_market(session: Session, name: str, *, skip_bad_pools: bool) -> "Market":
    """Return the market of a network; without pools if none comes with the program and nothing else has any."""
    try:
        return session.open_market(name, skip_bad_pools=skip_bad_pools)
    except MarketError:
        if session.settings.market is not None or name in embedded_names():
            raise
    from swapcli.quoting.market import Market

    return Market(session.sources.pools.open_without_pools(name), session.nodes, session.routers)


def _market_for_guess(session: Session, name: str) -> MarketState:
    """Return what is known of a network without reading a node or a store."""
    return session.markets.market(name) if name in embedded_names() else session.markets.without_pools(name)


def _choose_network(session: Session, given: PayloadInput, option: str | None) -> str | None:
    """Return the network of the option, else of the transaction, the settings, or the one that fits; None if unknown.

    A market file has one network, which is meant.
    """
    if session.settings.market is not None and option is None:
        market = session.markets.file_market()
        return market.network.name if market else None
    name = option or given.network or _named_by_chain(session, given) or session.settings.network
    if name is not None:
        return name
    guessed = guess_network(given, network_names_from(session.settings), partial(_market_for_guess, session))
    if guessed is not None:
        session.output.note(f"this looks like a payload for {guessed}; --network names another one")
    return guessed


def _named_by_chain(session: Session, given: PayloadInput) -> str | None:
    """Return the network with the first chain id of the transactions; None if no network has it."""
    for chain_id in given.chain_ids[:1]:
        with suppress(UnknownNetwork):
            return session.networks.find(str(chain_id)).name
    return None


def _parse_signing(session: Session, given: PayloadInput, destination: str | None, network: Network) -> Signing:
    """Parse the addresses of a transaction. Raises `InvalidAddress`."""
    payload = given.payload
    to = None if payload.to is None else parse_address_option(payload.to, network, "--to")
    sender = None if payload.sender is None else parse_account_option(payload.sender, network, session, SENDER)
    recipient = None if destination is None else parse_account_option(destination, network, session, RECIPIENT)
    integrator = session.settings.integrator
    if integrator.address is None:
        return Signing(to, None, sender, recipient)
    address = parse_address_option(integrator.address, network, "integrator address")
    return Signing(to, None, sender, recipient, Integrator(address, integrator.fee_bps, integrator.surplus_bps))
