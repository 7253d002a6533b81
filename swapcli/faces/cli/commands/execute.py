"""`swapcli execute`: build the transaction for an earlier route, on the current state."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from typing import Annotated

from swapcli import InvalidInput, InvalidOption, Network, PreparedRoute, RouteResult, SwapTerms
from swapcli.core.encoding.strict_json import parse_json
from swapcli.core.records import NamedTuple
from swapcli.faces.cli import exit_codes, options
from swapcli.faces.cli.account_options import RECIPIENT, check_recipient_option, parse_account_option
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.files import STDIN, is_stdin_terminal, read_file
from swapcli.faces.cli.options import (
    OutputOptions,
    PayloadOptions,
    SourceOptions,
    argument,
    option,
    option_name,
    settings_of,
)
from swapcli.faces.cli.output import TRANSACTION_FORMATS
from swapcli.faces.cli.overview import ROUTE_TO_EXECUTE
from swapcli.faces.cli.payload_output import (
    open_checker,
    parse_deadline,
    print_payload,
    requested_checks,
    required_lifetime_s,
    shows_full_calldata,
)
from swapcli.faces.cli.session import Session, open_session
from swapcli.interface.route import parse_posted_result
from swapcli.interface.slippage import SLIPPAGE_RANGE
from swapcli.payload.transactions_to_send import RenderedTransaction
from swapcli.quoting.quote_options import require_swap_terms
from swapcli.quoting.warnings import settle_slippage

app = CommandApp()


@app.command(formats=TRANSACTION_FORMATS)
def execute(
    file: Annotated[str, argument("[FILE]", "File with a route (swapcli route --json).  [default: stdin]")] = STDIN,
    *,
    slippage: options.Slippage = None,
    destination: options.Destination = None,
    router_dialect: options.RouterDialect = None,
    signature: Annotated[
        str | None, option("--signature", "Signature of the permit (see --permit).", options.ANSWER, "HEX")
    ] = None,
    network: Annotated[
        str | None,
        option("--network", "Network, if the route does not name it.", options.ROUTING, "NETWORK"),
    ] = None,
    payload: PayloadOptions,
    source: SourceOptions,
    output: OutputOptions,
) -> int:
    """Build the transaction for a route.

    \b
    Example:
      swapcli route base ETH USDC 1.5 --offline --json | \\
        swapcli execute - --offline \\
        --destination 0x1111111111111111111111111111111111111111

    swapcli recomputes the route on the current state. If the output is now lower by more than the slippage, the command
    exits with status 6. If signing would be dangerous, it exits with status 7.

    See also: swapcli help transactions, swapcli help signing, swapcli help checks.
    """
    flags = settings_of(payload, source, slippage=slippage, router_dialect=router_dialect)
    session = open_session(
        output,
        flags,
        rpc_url=source.rpc_url,
        offline=source.offline,
        formats=TRANSACTION_FORMATS,
        price_use=payload.price_use,
    )
    if file == STDIN == str(session.settings.market):
        raise InvalidOption("the route and --market cannot both be read from stdin")
    deadline_s, deadline_in_s = parse_deadline(payload, signature)
    document = _read(file)
    market = session.open_market(_network_name(document, network, session))
    quote_source = market.source
    route = _parse_route(session, quote_source.network, document, destination, deadline_s)
    check_recipient_option(route.terms.required_recipient, payload.allow_recipient, quote_source)
    checker = open_checker(session, quote_source.network, payload)
    sender = checker.requested.sender if checker else None
    terms = route.terms._replace(
        deadline_in_s=deadline_in_s,
        sender=None if payload.permit else sender,
        lifetime_s=required_lifetime_s(session),
        needs_permit=payload.permit,
    )
    if signature is not None:
        from swapcli.quoting.permits import permitted_network, signed_terms

        permitted = permitted_network(quote_source, route.result, terms)
        terms = signed_terms(session.nodes, permitted, route.result, terms, signature, "--signature")
    transaction = quote_source.build(route.result, terms)
    if payload.permit:
        from swapcli.faces.cli.permits import print_permit
        from swapcli.quoting.sources.quote_source import payload_network

        network_of_router = payload_network(quote_source.network, transaction)
        print_permit(session, network_of_router, (route.result, terms), transaction.to, sender)
        return exit_codes.OK
    checks = requested_checks(session, checker, payload)
    _print(session, market.check_route(route.result, transaction, terms, checks), payload)
    return exit_codes.OK


class _Route(NamedTuple):
    """A route with the terms of its swap."""

    result: RouteResult
    terms: SwapTerms


def _parse_route(
    session: Session, network: Network, document: dict[str, object], destination: str | None, deadline_s: int | None
) -> _Route:
    result = parse_posted_result(document, network)
    slippage_ppm = SLIPPAGE_RANGE[result.api_version].check(session.settings.slippage_ppm)
    settle_slippage(slippage_ppm, session.settings, option_name)
    recipient = None if destination is None else parse_account_option(destination, network, session, RECIPIENT)
    return _Route(result, require_swap_terms(recipient, slippage_ppm, network)._replace(deadline_s=deadline_s))


def _read(file: str) -> dict[str, object]:
    """Read the JSON of a route. Raises `InvalidInput`, also if it would have to wait for a terminal."""
    if file == STDIN and is_stdin_terminal():
        raise InvalidInput("no route given: add its file, or pipe it in", hint=ROUTE_TO_EXECUTE)
    name = "stdin" if file == STDIN else file
    content = read_file(file)
    try:
        document = parse_json(content, name)
    except InvalidInput as error:
        error.hint = ROUTE_TO_EXECUTE
        raise
    if not isinstance(document, dict):
        raise InvalidInput(f"{name} does not contain a route", hint=ROUTE_TO_EXECUTE)
    return document


def _network_name(document: dict[str, object], option: str | None, session: Session) -> str:
    """Return the network named in the route, otherwise that of --network or the settings. Raises `InvalidOption`."""
    name = document.get("network")
    if not isinstance(name, str) or not name:
        if option or session.settings.network:
            return session.network_name(option)
        raise InvalidOption("the route does not name its network", hint="add --network NAME")
    if option and option.lower() != name.lower() and option != str(session.networks.chain_id(name)):
        raise InvalidOption(f"the route is for {name}, not for {option}", hint="remove --network")
    return name


def _print(session: Session, prepared: PreparedRoute, options: PayloadOptions) -> None:
    def print_view(transactions: list[RenderedTransaction]) -> None:
        from swapcli.faces.cli.render.payload_view import build_execute_view
        from swapcli.faces.cli.render.simulation_view import with_deadline, with_simulation

        full = shows_full_calldata(session, options)
        view = build_execute_view(prepared, transactions, full=full, verbose=options.verbose)
        session.output.print_payload(with_simulation(with_deadline(view, prepared.built), prepared.built))

    print_payload(session, prepared, options, print_view)
