"""`swapcli execute`: the transaction of a route that was found before, on the market of now."""

# Annotations are values here: they are what Typer reads.

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, NamedTuple

from swapcli.api.route import parse_result
from swapcli.api.route_result import RouteResult
from swapcli.api.slippage import SLIPPAGE_RANGE
from swapcli.cli import exit_codes, options
from swapcli.cli.deadline import parse_deadline_s
from swapcli.cli.files import STDIN, is_stdin_terminal, read_file
from swapcli.cli.lazy_group import PanelCommand, UsageError, new_app
from swapcli.cli.options import OutputOptions, PayloadOptions, SourceOptions, argument, option, with_option_groups
from swapcli.cli.payload_output import PreparedPayload, add_warnings, print_payload, shows_full_calldata, swap_terms
from swapcli.cli.quote_options import parse_address_option
from swapcli.cli.render.payload_json import PayloadContext, execute_document
from swapcli.cli.render.transactions import RenderedTransaction
from swapcli.cli.session import Session, open_session
from swapcli.cli.simulation_options import open_checker
from swapcli.encoding.strict_json import parse_json
from swapcli.engine.clock import SYSTEM_CLOCK
from swapcli.engine.warnings import check_impact, quote_warnings
from swapcli.errors import InvalidInput, InvalidOption
from swapcli.model.network import Network
from swapcli.model.state_source import StateSource
from swapcli.model.swap_terms import SwapTerms
from swapcli.model.warning import QuoteWarning, WarningCode

PIPE = "swapcli route NETWORK TOKEN_IN TOKEN_OUT AMOUNT --json | swapcli execute - --destination ADDRESS"

app = new_app()


@app.command(cls=PanelCommand)
@with_option_groups
def execute(
    file: Annotated[str, argument("[FILE]", "What swapcli route --json printed; - or nothing is stdin.")] = STDIN,
    *,
    slippage: options.Slippage = None,
    destination: options.Destination = None,
    deadline: Annotated[
        str | None,
        option("--deadline", "Refuse if it has passed: 20m, +1200 or Unix seconds.", options.ANSWER, "TIME"),
    ] = None,
    network: Annotated[
        str | None, option("--network", "Where the route is, if it does not say so.", options.ROUTING, "NETWORK")
    ] = None,
    payload: PayloadOptions,
    source: SourceOptions,
    output: OutputOptions,
) -> int:
    """Build the transaction of a route.

    \b
    Example:
      swapcli route base ETH USDC 1.5 --json | swapcli execute - \\
        --destination 0x1111111111111111111111111111111111111111

    The route is replayed on the present state: every amount comes from there, and one that falls short of the route by
    more than the slippage ends with status 6, a price impact above --max-impact with status 7.
    """
    flags = {"slippage": slippage} | payload.flags | source.flags
    session = open_session(output, flags, rpc_url=source.rpc_url, offline=source.offline)
    if file == STDIN == str(session.settings.market):
        raise InvalidOption("the route and --market cannot both be read from stdin")
    deadline_s = None if deadline is None else parse_deadline_s(deadline, SYSTEM_CLOCK.now_s())
    document = _read(file)
    asked = session.open(_network_name(document, network, session), skip_bad_pools=source.skip_bad_pools)
    given = _given(session, asked.network, document, destination)
    checks = open_checker(session, asked.network, payload)
    built = asked.build(given.result, given.terms)
    impact, origin, settings = asked.impact_of(given.result, built), asked.state_source, session.settings
    check_impact(impact, origin, settings.max_impact_ppm)
    checked = checks.check_built(asked, given.result, built) if checks else None
    of_quote = (
        *quote_warnings(impact, origin, ttl_s=settings.route_ttl_s, impact_warning_ppm=settings.impact_warning_ppm),
        *_deadline_warnings(deadline_s),
    )
    ready = PreparedPayload(built, asked.network, checked)
    ready = add_warnings(session, ready, of_quote, with_approval=payload.with_approval)
    _tell(session, origin, given, ready, payload)
    return exit_codes.OK


def _deadline_warnings(deadline_s: int | None) -> Iterator[QuoteWarning]:
    if deadline_s is not None:
        moment = datetime.fromtimestamp(deadline_s, UTC).isoformat()
        yield QuoteWarning(
            WarningCode.DEADLINE_NOT_ENFORCED,
            f"the router's swap takes no deadline, so the transaction does not expire by itself at {moment}",
        )


class _Given(NamedTuple):
    """A route, and how it is to be carried out."""

    result: RouteResult
    terms: SwapTerms


def _given(session: Session, network: Network, document: dict[str, object], destination: str | None) -> _Given:
    result = parse_result(document, network)
    slippage_ppm = SLIPPAGE_RANGE[result.api_version].check(session.settings.slippage_ppm)
    receiver = None if destination is None else parse_address_option(destination, network, "--destination")
    return _Given(result, swap_terms(receiver, slippage_ppm, network))


def _read(file: str) -> dict[str, object]:
    """The route's document. Raises `UsageError` where nobody could give one, `InvalidInput` where it is none."""
    if file == STDIN and is_stdin_terminal():
        raise UsageError("a route is needed: name its file, or pipe it in")
    name = "stdin" if file == STDIN else file
    try:
        document = parse_json(read_file(file))
    except InvalidInput as error:
        error.message = f"{name} {error.message.removeprefix('the body ')}"
        error.hint = PIPE
        raise
    if not isinstance(document, dict):
        raise InvalidInput(f"{name} holds no route", hint=PIPE)
    return document


def _network_name(document: dict[str, object], asked: str | None, session: Session) -> str:
    """The network that is asked for, else the route's own, else the settings'. Raises `InvalidOption`."""
    told = document.get("network")
    if not isinstance(told, str) or not told:
        if asked or session.settings.network:
            return session.network_name(asked)
        raise InvalidOption("the route does not say on which network it is", hint="add --network NAME")
    if asked and asked.lower() != told.lower() and asked != str(session.chain_id(told)):
        raise InvalidOption(f"the route is of {told}, not of {asked}", hint="leave --network out")
    return told


def _tell(
    session: Session, state_source: StateSource, given: _Given, ready: PreparedPayload, told: PayloadOptions
) -> None:
    built, network, checked, warnings = ready
    slippage_ppm = given.terms.slippage_ppm

    def document(swap: RenderedTransaction) -> dict[str, object]:
        now_ms = int(SYSTEM_CLOCK.now_s() * 1000)
        return execute_document(
            built, swap, PayloadContext(network, state_source, given.result.api_version, now_ms), warnings
        )

    def people(sendings: list[RenderedTransaction]) -> None:
        from swapcli.cli.render.payload_view import build_execute_view
        from swapcli.cli.render.simulation_view import with_simulation

        full = shows_full_calldata(session, told)
        view = build_execute_view(given.result, built, sendings, network, slippage_ppm, full=full)
        session.output.print_payload(with_simulation(view, checked))

    print_payload(session, ready, told, document, people)
