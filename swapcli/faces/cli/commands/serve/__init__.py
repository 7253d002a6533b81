"""`swapcli serve`: the HTTP service with the endpoints of the published interface."""

# No `from __future__ import annotations`: see `swapcli.startup`.

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from swapcli import BlockTag, InvalidOption
from swapcli.core.encoding.json_text import to_json
from swapcli.core.encoding.url import is_loopback_host
from swapcli.faces.cli import options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.files import write_text_file
from swapcli.faces.cli.options import OutputOptions, option, settings_of
from swapcli.faces.cli.output import print_to_stderr
from swapcli.faces.cli.session import Session, open_session
from swapcli.quoting.config import network_names_from

if TYPE_CHECKING:
    from swapcli import ReadyService

SERVER, LIFECYCLE = "Server", "Lifecycle"

_STATE_IGNORED = "WARNING: the setting state is {}, but a service follows and quotes the latest block"
_PUBLIC_ADDRESS = (
    "WARNING: listening on {}: anyone who can reach this machine can use the service, and connections are not"
    " encrypted; put a TLS proxy in front of it"
)

PUBLIC = ()

app = CommandApp()


@app.command()
def serve(
    *,
    host: Annotated[
        str | None, option("--host", "Address to listen on.  [default: 127.0.0.1]", SERVER, "ADDRESS")
    ] = None,
    port: Annotated[
        str | None, option("--port", "Port to listen on; 0 picks a free one.  [default: 8000]", SERVER, "PORT")
    ] = None,
    workers: Annotated[
        str | None, option("--workers", "Processes that answer; one a core is best.  [default: 1]", SERVER, "N")
    ] = None,
    networks: Annotated[
        list[str] | None, option("--networks", "Comma-separated networks.  [default: yours]", SERVER, "LIST")
    ] = None,
    everything: options.AllNetworks = False,
    keys_file: options.KeysFile = None,
    ready_file: Annotated[
        str | None, option("--ready-file", "Also write the line of JSON to this file.", SERVER, "FILE")
    ] = None,
    once: Annotated[bool, option("--once", "Exit after one request.", LIFECYCLE)] = False,
    max_requests: Annotated[str | None, option("--max-requests", "Exit after N requests.", LIFECYCLE, "N")] = None,
    market: options.MarketFile = None,
    skip_bad_pools: options.SkipBadPools = False,
    store: options.StoreDir = None,
    feed: Annotated[
        str | None,
        option("--feed", "Redis server with the feed of swapcli sync --watch --publish.", options.SOURCE, "URL"),
    ] = None,
    max_age: options.MaxAge = None,
    live: options.Live = None,
    offline: options.Offline = False,
    output: OutputOptions,
) -> int:
    """Serve routes and transactions over HTTP.

    \b
    Examples:
      swapcli serve --port 0 --offline --once
      swapcli serve --networks base,monad

    When it accepts connections, it prints one line of JSON, {"url", "pid", "networks", "modelled"}; the last are the
    networks whose prices are modelled at first. The log goes to stderr, one line of JSON per request. On SIGTERM or
    Ctrl-C it finishes open requests and exits with 0; on SIGHUP it reads API keys, rate limits, CORS origins and
    trusted proxies again. When the terminal that it was started on is closed, it ends, too; nohup prevents that.

    The service follows the newest block of the node that the settings name for a network, else of public nodes. Until a
    public node responds, quotes are on modelled prices and say so, and requests for calldata return 503. With
    --offline, every endpoint works on modelled prices, for trials. Requests on state that is too old return 503, and so
    do orders that could not start within two seconds. `swapcli help service` describes more.
    """
    if output.output_file is not None:
        from swapcli.faces.cli.output_file import refuse_stream

        refuse_stream("serve")
    flags = settings_of(
        host=host,
        port=port,
        workers=workers,
        keys_file=keys_file,
        market=market,
        store=store,
        feed=feed,
        max_age=max_age,
        live=live,
    )
    # Imported here, since the package of the service is not loaded for help pages.
    from swapcli.faces.service.terminal import watch_terminal

    is_terminal_gone = watch_terminal()

    def read_session() -> Session:
        return open_session(output, flags, offline=offline)

    session = read_session()
    request_limit = _parse_request_limit(once, max_requests)
    if workers is not None and request_limit is not None and session.settings.service.workers > 1:
        raise InvalidOption("--workers cannot be combined with a number of requests: one process counts them")
    if store is not None and session.settings.service.feed_url is not None:
        raise InvalidOption(
            "a feed cannot be combined with --store: its pools come from a Redis server", hint="leave one out"
        )
    from swapcli.faces.service.run_service import ServiceRun, ServiceSetup, run_service

    def on_ready(ready: "ReadyService", warn: Callable[[str], object]) -> None:
        _warn_of_settings(session, warn)
        if ready_file is not None:
            write_text_file(ready_file, to_json(ready.document()) + "\n")
        session.output.print_line(ready)
        if sys.stderr is not None and sys.stderr.isatty():
            for line in ready.lines:
                warn(line)

    def setup_of(session: Session) -> ServiceSetup:
        return ServiceSetup(session.sources, session.keys_file())

    run = ServiceRun(
        setup_of(session),
        _names(session, networks, everything=everything),
        lambda: setup_of(read_session()),
        on_ready,
        is_terminal_gone,
        request_limit,
        skip_bad_pools=skip_bad_pools,
    )
    return run_service(run, print_to_stderr)


def _names(session: Session, networks: list[str] | None, *, everything: bool) -> tuple[str, ...]:
    """Return the networks to serve; none means the user's. Raises `InvalidOption` for some and all of them."""
    if everything and networks:
        raise InvalidOption("--all serves all networks, so it cannot be combined with --networks")
    if everything:
        return network_names_from(session.settings, everything=True)
    return tuple(options.split_lists(networks or ()))


def _warn_of_settings(session: Session, warn: Callable[[str], object]) -> None:
    """Write warnings of ignored and unsafe settings to the log."""
    settings = session.settings
    if settings.state is not BlockTag.LATEST:
        warn(_STATE_IGNORED.format(settings.state))
    if not is_loopback_host(settings.service.host):
        warn(_PUBLIC_ADDRESS.format(settings.service.host))


def _parse_request_limit(once: bool, text: str | None) -> int | None:
    if text is None:
        return 1 if once else None
    if once:
        raise InvalidOption("--once cannot be combined with --max-requests")
    if not (text.isascii() and text.isdigit() and len(text) <= 18 and int(text)):
        raise InvalidOption("--max-requests: expected a whole number above 0")
    return int(text)
