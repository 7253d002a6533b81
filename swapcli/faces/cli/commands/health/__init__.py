"""`swapcli health`: check that every network can be quoted."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from typing import TYPE_CHECKING, Annotated

from swapcli import InvalidOption
from swapcli.faces.cli import exit_codes, options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.options import OutputOptions, SourceOptions, argument, option, settings_of
from swapcli.faces.cli.output import LIST_FORMATS
from swapcli.faces.cli.session import REMOTE_RETRIES, open_session

if TYPE_CHECKING:
    from swapcli import HealthReport
    from swapcli.faces.cli.render.list_view import ListView

MAX_RETRIES = 100

PUBLIC = ()

app = CommandApp()


@app.command(formats=LIST_FORMATS)
def health(
    networks: Annotated[list[str] | None, argument("[NETWORK]...", "Networks to check.  [default: yours]")] = None,
    *,
    everything: options.AllNetworks = False,
    market: options.MarketFile = None,
    store: options.StoreDir = None,
    rpc_url: options.RpcUrl = None,
    max_age: options.MaxAge = None,
    block: options.Block = None,
    live: options.Live = None,
    offline: options.Offline = False,
    api_url: options.ApiUrl = None,
    api_key_file: options.ApiKeyFile = None,
    timeout: options.Timeout = None,
    retries: Annotated[
        str | None,
        option("--retries", f"Retries per request.  [default: {REMOTE_RETRIES}]", options.SOURCE, "N"),
    ] = None,
    output: OutputOptions,
) -> int:
    """Check that every network can be quoted.

    \b
    Examples:
      swapcli health --offline
      swapcli health base monad --json

    Quotes a sample order on each of your networks and shows whether prices are live, stored or modelled. A network is
    healthy if its prices are real; otherwise the exit status is 8. --offline checks only the markets. --api-url checks
    a service. --rpc-url also checks the node and lists the features it lacks.
    """
    source = SourceOptions(
        market=market,
        store=store,
        rpc_url=rpc_url,
        max_age=max_age,
        block=block,
        live=live,
        offline=offline,
        api_url=api_url,
        api_key_file=api_key_file,
        timeout=timeout,
    )
    if everything and networks:
        raise InvalidOption("--all checks all networks, so it cannot be combined with NETWORK")
    session = open_session(output, settings_of(source), rpc_url=rpc_url, offline=offline, formats=LIST_FORMATS)
    from swapcli import health as check_health

    attempts = _retries(retries)
    is_local = session.sources.service_url is None
    if not is_local or not (session.nodes.rules.excludes_nodes or session.settings.market):
        session.start_waiting(networks[0] if networks else None)
    names = map(session.network_name, networks or ())
    found = check_health(*names, everything=everything, retries=attempts, settings=session.sources)
    session.output.print_list(found, _view)
    found.check()
    return exit_codes.OK


def _view(found: "HealthReport") -> "ListView":
    from swapcli.faces.cli.commands.health.view import build_health_list  # not loaded for JSON

    return build_health_list(found)


def _retries(text: str | None) -> int:
    if text is None:
        return REMOTE_RETRIES
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(MAX_RETRIES)) and int(text) <= MAX_RETRIES):
        raise InvalidOption(f"--retries: expected a whole number from 0 to {MAX_RETRIES}")
    return int(text)
