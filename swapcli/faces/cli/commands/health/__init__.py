"""`swapcli health`: check that every network can be quoted."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from collections.abc import Sequence
from contextlib import closing
from itertools import repeat
from typing import TYPE_CHECKING, Annotated

from swapcli.core.errors import InvalidOption, MarketError, MarketUnavailable, UnhealthyError, UpstreamError
from swapcli.faces.cli import exit_codes, options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.files import STDIN
from swapcli.faces.cli.options import OutputOptions, SourceOptions, argument, option, settings_of
from swapcli.faces.cli.output import LIST_FORMATS, OutputFormat
from swapcli.faces.cli.session import REMOTE_RETRIES, Session, open_session
from swapcli.interface.quote_fields import render_state_source
from swapcli.quoting.config import network_names_from
from swapcli.quoting.health import UNHEALTHY, Health, Sample, judge_prices
from swapcli.quoting.openers.choose_source import SourceChooser, open_source_chooser
from swapcli.quoting.openers.user_setup import UserSetup

if TYPE_CHECKING:
    from swapcli.interface.document_types import HealthDocumentJson, SampleJson
    from swapcli.state.rpc.node_checks import NodeReport

MAX_RETRIES = 100
MAX_CHECKS = 16
"""Networks that are checked at the same time."""

PUBLIC = ()

app = CommandApp()


@app.command(formats=LIST_FORMATS)
def health(
    networks: Annotated[list[str] | None, argument("[NETWORK]...", "Networks to check.  [default: all]")] = None,
    *,
    market: options.MarketFile = None,
    store: options.StoreDir = None,
    rpc_url: options.RpcUrl = None,
    max_age: options.MaxAge = None,
    state: options.State = None,
    live: options.Live = None,
    offline: options.Offline = False,
    api_url: options.ApiUrl = None,
    api_key_file: options.ApiKeyFile = None,
    timeout: options.Timeout = None,
    retries: Annotated[
        str | None,
        option("--retries", f"Attempts after a failed one.  [default: {REMOTE_RETRIES}]", options.SOURCE, "N"),
    ] = None,
    output: OutputOptions,
) -> int:
    """Check that every network can be quoted.

    \b
    Examples:
      swapcli health --offline
      swapcli health base monad --json

    Quotes a sample order on each network, from the same sources as a quote, and shows whether its prices are live,
    stored or modelled. A network is healthy if its prices are real. With --offline, only the markets are checked. With
    --api-url, the health is that of the service. With --rpc-url, it also checks the node's features that quotes and
    syncs need, and prints the missing ones: its chain, a recent block, batches, packed calls at a block and at an
    earlier one, state overrides, and events. If a network is not healthy, or the node cannot be quoted on, the command
    exits with status 8.
    """
    source = SourceOptions(
        market=market,
        store=store,
        rpc_url=rpc_url,
        max_age=max_age,
        state=state,
        live=live,
        offline=offline,
        api_url=api_url,
        api_key_file=api_key_file,
        timeout=timeout,
    )
    session = open_session(output, settings_of(source), rpc_url=rpc_url, offline=offline, formats=LIST_FORMATS)
    attempts = _retries(retries)
    names = [session.network_name(name) for name in networks or _all_names(session, attempts)]
    if rpc_url is not None and len(names) != 1:
        raise InvalidOption("--rpc-url is the node of one network: name exactly one NETWORK")
    checked = _check_all(session, names, attempts)
    nodes = [] if rpc_url is None else _check_nodes(session, names[0])
    _print(session, checked, nodes)
    unhealthy = [health for health in checked if not health.is_healthy]
    if missing := [check for node in nodes if not node.can_quote for check in node.missing]:
        problems = "; ".join(f"{check.name} ({check.problem})" for check in missing)
        raise UnhealthyError(
            f"the node lacks: {problems}",
            details={"networks": names, "missing": [check.name for check in missing]},
        )
    if unhealthy:
        reasons = "; ".join(f"{health.network} ({health.message})" for health in unhealthy)
        is_live_missing = any(health.prices in ("modelled", "synthetic") for health in unhealthy)
        raise UnhealthyError(
            f"not healthy: {reasons}",
            hint="to check the markets without a node, give --offline" if is_live_missing else None,
            details={"networks": [health.network for health in unhealthy]},
        )
    return exit_codes.OK


def _retries(text: str | None) -> int:
    if text is None:
        return REMOTE_RETRIES
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(MAX_RETRIES)) and int(text) <= MAX_RETRIES):
        raise InvalidOption(f"--retries: expected a whole number from 0 to {MAX_RETRIES}")
    return int(text)


def _all_names(session: Session, retries: int) -> tuple[str, ...]:
    """Return the networks of the service, else the network of the market file, else all networks.

    Raises `UnhealthyError` if the service does not list its networks.
    """
    try:
        served = session.sources.service_networks(retries)
    except UpstreamError as error:
        raise UnhealthyError(f"not healthy: {error.message}", hint=error.hint, details={"networks": []}) from None
    if served is not None:
        return served
    if session.sources.service_url is None and str(session.settings.market) != STDIN:
        market = session.markets.file_market()
        if market is not None:
            return (market.network.name,)
    return network_names_from(session.settings)


def _check_all(session: Session, names: Sequence[str], retries: int) -> list[Health]:
    """Check the networks, at the same time if each waits for nodes or a service."""
    if session.sources.service_url is None and (session.nodes.rules.excludes_nodes or session.settings.market):
        return [_check(session.setup, name, retries) for name in names]
    from concurrent.futures import ThreadPoolExecutor

    session.start_waiting(names[0])
    with ThreadPoolExecutor(max_workers=min(len(names), MAX_CHECKS)) as pool:
        return list(pool.map(_check, repeat(session.setup), names, repeat(retries)))


def _check(setup: UserSetup, name: str, retries: int) -> Health:
    """Check a network. An invalid market file of the user is an input error, not bad health."""
    sources = open_source_chooser(setup)  # one for each network, since it opens the nodes of one
    if _lacks_required_node(sources, name):
        return Health(sources.networks.find(name).name, UNHEALTHY, f"no node of {name} is known", 0.0)
    try:
        with closing(sources.open(name, retries=retries)) as source:
            return judge_prices(source.health(), setup.node_rules.price_request)
    except (MarketError, UpstreamError, MarketUnavailable) as error:
        if setup.settings.market is not None:
            raise
        return Health(sources.networks.find(name).name, UNHEALTHY, error.message, 0.0)


def _lacks_required_node(sources: SourceChooser, name: str) -> bool:
    rules = sources.nodes.rules
    is_local = sources.service_url is None and rules.settings.market is None
    return is_local and rules.requires_node and not any(rules.quoted_nodes(sources.networks.find(name)))


def _check_nodes(session: Session, name: str) -> "list[NodeReport]":
    from swapcli.quoting.openers.check_nodes import check_named_nodes

    return [*check_named_nodes(session.nodes, session.networks.find(name))]


def _print(session: Session, checked: list[Health], nodes: "list[NodeReport]") -> None:
    documents = tuple(_document(each) for each in checked)
    if nodes:
        from swapcli.faces.cli.render.node_view import node_document

        documents = tuple(
            {**each, "node": node_document(each["network"], node)} for each, node in zip(documents, nodes, strict=True)
        )
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(list(documents))
    else:
        from swapcli.faces.cli.commands.health.view import build_health_list

        session.output.print_list(build_health_list(checked, documents, nodes))


def _document(health: Health) -> "HealthDocumentJson":
    return {
        "network": health.network,
        "healthy": health.is_healthy,
        "status": health.status,
        "message": health.message,
        "time": health.time_s,
        "prices": health.prices,
        "state": render_state_source(health.state_source) if health.state_source else None,
        "pools": health.pools,
        "tokens": health.tokens,
        "sample": _sample(health.sample) if health.sample else None,
    }


def _sample(sample: Sample) -> "SampleJson":
    return {
        "tokenIn": sample.token_in.symbol,
        "tokenOut": sample.token_out.symbol,
        "amountIn": str(sample.amount_in),
        "amountOut": str(sample.amount_out),
    }
