"""`swapcli serve`: the HTTP service with the endpoints of the published API."""

# No `from __future__ import annotations`: see `swapcli.startup`.

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

from swapcli import BlockTag, InvalidOption
from swapcli.core.encoding.disk_errors import is_disk_full
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

_BLOCK_IGNORED = "WARNING: the setting `block` is `{}`, but a service follows and quotes the latest block"
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
        str | None, option("--workers", "Worker processes; use one per core.  [default: 1]", SERVER, "N")
    ] = None,
    networks: Annotated[
        list[str] | None, option("--networks", "Networks to serve: a,b,c.  [default: yours]", SERVER, "LIST")
    ] = None,
    everything: options.AllNetworks = False,
    keys_file: options.KeysFile = None,
    require_keys: Annotated[bool, option("--require-keys", "Reject requests without a valid API key.", SERVER)] = False,
    ready_file: Annotated[
        str | None, option("--ready-file", "Also write the startup line to this file.", SERVER, "FILE")
    ] = None,
    max_requests: Annotated[str | None, option("--max-requests", "Exit after N requests.", LIFECYCLE, "N")] = None,
    market: options.MarketFile = None,
    store: options.StoreDir = None,
    feed: Annotated[
        str | None,
        option("--feed", "Redis server that sync --watch --publish writes to.", options.SOURCE, "URL"),
    ] = None,
    max_age: options.MaxAge = None,
    live: options.Live = None,
    offline: options.Offline = False,
    output: OutputOptions,
) -> int:
    """Serve routes and transactions over HTTP.

    \b
    Examples:
      swapcli serve --port 0 --offline --max-requests 1
      swapcli serve --networks base,monad

    At startup it prints one line of JSON: {"url", "pid", "networks", "modelled"}. `modelled` lists the networks that
    have no live prices yet. Those networks return quotes with a warning, and 503 for calldata. With --offline, every
    endpoint uses modelled prices, so that you can try the service. The log on stderr has one line of JSON per request.

    SIGTERM and Ctrl-C finish open requests and exit with status 0. SIGHUP reloads API keys, rate limits, CORS origins
    and trusted proxies.

    See also: swapcli help service, swapcli help deploy.
    """
    if output.output_file is not None:
        from swapcli.faces.cli.output_file import refuse_stream

        refuse_stream("serve")
    flags = settings_of(
        host=host,
        port=port,
        workers=workers,
        keys_file=keys_file,
        require_keys=require_keys,
        market=market,
        store=store,
        feed=feed,
        max_age=max_age,
        live=live,
    )
    # Imported here because help pages do not need the service's package.
    from swapcli.faces.service.terminal import watch_terminal

    is_terminal_gone = watch_terminal()

    def read_session() -> Session:
        return open_session(output, flags, offline=offline)

    session = read_session()
    request_limit = _parse_request_limit(max_requests)
    if workers is not None and request_limit is not None and session.settings.service.workers > 1:
        raise InvalidOption("--workers cannot be combined with --max-requests: a single process counts the requests")
    if store is not None and session.settings.service.feed_url is not None:
        raise InvalidOption(
            "a feed cannot be combined with --store: its pools come from a Redis server", hint="remove one of them"
        )
    from swapcli.faces.service.run_service import ServiceRun, ServiceSetup, run_service

    def on_ready(ready: "ReadyService", warn: Callable[[str], object]) -> None:
        _warn_of_settings(session, ready.url, warn)
        if ready_file is not None:
            write_text_file(ready_file, to_json(ready.document()) + "\n")
        try:
            session.output.print_line(ready)
        except OSError as error:
            if not is_disk_full(error):  # it does not stop quotes
                raise
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
    )
    return run_service(run, print_to_stderr)


def _names(session: Session, networks: list[str] | None, *, everything: bool) -> tuple[str, ...]:
    """Return the networks to serve; none means the user's. Raises `InvalidOption` if both some and all are
    requested, and for --networks without a name."""
    if everything and networks:
        raise InvalidOption("--all serves all networks, so it cannot be combined with --networks")
    if everything:
        return network_names_from(session.settings, everything=True)
    return tuple(options.split_names("--networks", networks))


def _warn_of_settings(session: Session, url: str, warn: Callable[[str], object]) -> None:
    """Write warnings of ignored and unsafe settings to the log."""
    block, host = session.settings.block, urlsplit(url).hostname or ""
    if block is not BlockTag.LATEST:
        warn(_BLOCK_IGNORED.format(block))
    if not is_loopback_host(host):
        warn(_PUBLIC_ADDRESS.format(host))


def _parse_request_limit(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 18 and int(text)):
        raise InvalidOption("--max-requests: expected a whole number above 0")
    return int(text)
