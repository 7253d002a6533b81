"""`swapcli health`: is what answers well? Fit for smoke checks: status 8 where anything is not."""

# Annotations are values here: they are what Typer reads.

from typing import Annotated

from swapcli.cli import exit_codes, options
from swapcli.cli.files import STDIN
from swapcli.cli.lazy_group import PanelCommand, new_app
from swapcli.cli.options import OutputOptions, SourceOptions, argument, option, with_option_groups
from swapcli.cli.output import OutputFormat
from swapcli.cli.render.json import state_field
from swapcli.cli.session import REMOTE_RETRIES, Session, open_session
from swapcli.config import network_names_from
from swapcli.engine.health import UNHEALTHY, Health, Sample
from swapcli.errors import InvalidOption, MarketError, MarketUnavailable, UnhealthyError, UpstreamError

MOST_RETRIES = 100

app = new_app()


@app.command(cls=PanelCommand)
@with_option_groups
def health(
    networks: Annotated[
        list[str] | None, argument("[NETWORK]...", "All networks, or those of the service, where none is named.")
    ] = None,
    *,
    market: options.MarketFile = None,
    store: options.StoreDir = None,
    rpc_url: options.RpcUrl = None,
    max_age: options.MaxAge = None,
    offline: options.Offline = False,
    api_url: options.ApiUrl = None,
    api_key_file: options.ApiKeyFile = None,
    timeout: options.Timeout = None,
    retries: Annotated[
        str | None,
        option("--retries", f"Attempts after one that failed.  [default: {REMOTE_RETRIES}]", options.SOURCE, "N"),
    ] = None,
    output: OutputOptions,
) -> int:
    """Check that every network can be quoted.

    \b
    Examples:
      swapcli health
      swapcli health base monad --json

    Of a market in this process it says how old it is, and quotes an order on it; a service is asked for its own health.
    Ends with status 8 where anything is not healthy.
    """
    source = SourceOptions(market, False, store, rpc_url, max_age, offline, api_url, api_key_file, timeout)
    session = open_session(output, source.flags, rpc_url=rpc_url, offline=offline)
    attempts = _retries(retries)
    names = [session.network_name(name) for name in networks or _all_names(session, attempts)]
    if rpc_url is not None and len(names) != 1:
        raise InvalidOption("a node is of one network, so --rpc-url needs one NETWORK")
    checked = [_check(session, name, attempts) for name in names]
    _tell(session, checked)
    ill = [f"{each.network} ({each.message})" for each in checked if not each.is_healthy]
    if ill:
        networks_ill = [each.network for each in checked if not each.is_healthy]
        raise UnhealthyError(f"not healthy: {'; '.join(ill)}", details={"networks": networks_ill})
    return exit_codes.OK


def _retries(text: str | None) -> int:
    if text is None:
        return REMOTE_RETRIES
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(MOST_RETRIES)) and int(text) <= MOST_RETRIES):
        raise InvalidOption(f"--retries: expected a whole number from 0 to {MOST_RETRIES}")
    return int(text)


def _all_names(session: Session, retries: int) -> tuple[str, ...]:
    """Return every network; of a market file the one that it is of, of a service those that it serves.

    Raises `UnhealthyError` where a service does not even say that.
    """
    try:
        served = session.service_networks(retries)
    except UpstreamError as error:
        raise UnhealthyError(f"not healthy: {error.message}", hint=error.hint, details={"networks": []}) from None
    if served is not None:
        return served
    if session.service_url is None and str(session.settings.market) != STDIN:
        held = session.file_market()
        if held is not None:
            return (held.network.name,)
    return network_names_from(session.settings)


def _check(session: Session, name: str, retries: int) -> Health:
    """The health of a network. A file of the user's that cannot be used is wrong input, not bad health."""
    try:
        return session.open(name, retries=retries).health()
    except (MarketError, UpstreamError, MarketUnavailable) as error:
        if session.settings.market is not None:
            raise
        return Health(session.network(name).name, UNHEALTHY, error.message, 0.0)


def _tell(session: Session, checked: list[Health]) -> None:
    if session.output.format is OutputFormat.JSON:
        session.output.print_document([_document(each) for each in checked])
    else:
        from swapcli.cli.render.health_view import build_health_list

        session.output.print_list(build_health_list(checked))


def _document(health: Health) -> dict[str, object]:
    return {
        "network": health.network,
        "healthy": health.is_healthy,
        "status": health.status,
        "message": health.message,
        "time": health.time_s,
        "market": state_field(health.state_source) if health.state_source else None,
        "pools": health.pools,
        "tokens": health.tokens,
        "sample": _sample(health.sample) if health.sample else None,
    }


def _sample(sample: Sample) -> dict[str, str]:
    return {
        "tokenIn": sample.token_in.symbol,
        "tokenOut": sample.token_out.symbol,
        "amountIn": str(sample.amount_in),
        "amountOut": str(sample.amount_out),
    }
