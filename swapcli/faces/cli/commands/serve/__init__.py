"""`swapcli serve`: the HTTP service with the endpoints of the published interface."""

# No `from __future__ import annotations`: see `swapcli.startup`.

import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Annotated

from swapcli.core.encoding.json_text import to_json
from swapcli.core.encoding.url import is_loopback_host
from swapcli.core.errors import InvalidOption
from swapcli.core.model.block_tag import BlockTag
from swapcli.faces.cli import options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.commands.serve.sources import METRICS_PORT, open_app, read_policy
from swapcli.faces.cli.files import write_text_file
from swapcli.faces.cli.garbage_collection import enable_garbage_collection
from swapcli.faces.cli.options import OutputOptions, option, settings_of
from swapcli.faces.cli.output import print_to_stderr
from swapcli.faces.cli.session import Session, open_session

if TYPE_CHECKING:
    from swapcli.faces.cli.commands.serve.sources import ServiceSources

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
        list[str] | None, option("--networks", "Comma-separated networks.  [default: all]", SERVER, "LIST")
    ] = None,
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
    from swapcli.faces.service.terminal import await_hangups, find_terminal

    is_terminal_gone = find_terminal()
    await_hangups(is_terminal_gone)

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
    from swapcli.faces.cli.commands.serve.sources import open_service_sources

    sources = open_service_sources(session, options.split_lists(networks or ()), skip_bad_pools=skip_bad_pools)
    names = [network.name for network in sources.registry.served_networks]

    def on_ready(url: str, metrics_url: str | None) -> None:
        document = {"url": url, "pid": os.getpid(), "networks": names, "modelled": [*sources.modelled]}
        if metrics_url is not None:
            document["metrics_url"] = metrics_url
        if ready_file is not None:
            write_text_file(ready_file, to_json(document) + "\n")
        session.output.print_line(document)

    # With a number of requests, workers of the settings do not count.
    if session.settings.service.workers > 1 and request_limit is None:
        from swapcli.faces.cli.commands.serve.workers import serve_by_workers

        return serve_by_workers(
            session,
            sources,
            partial(_announce, session, sources, print_to_stderr, on_ready),
            read_session,
            is_terminal_gone,
        )
    return _serve(session, sources, request_limit, on_ready, read_session, is_terminal_gone)


OnReady = Callable[[str, str | None], None]
"""Is called with the URL of the service, and that of its metrics if they have a port of their own."""


def _announce(
    session: Session,
    sources: "ServiceSources",
    warn: Callable[[str], object],
    on_ready: OnReady,
    url: str,
    metrics_url: str | None,
) -> None:
    """Write warnings to the log, and say that connections are accepted."""
    settings = session.settings
    if settings.state is not BlockTag.LATEST:
        warn(_STATE_IGNORED.format(settings.state))
    if not is_loopback_host(settings.service.host):
        warn(_PUBLIC_ADDRESS.format(settings.service.host))
    on_ready(url, metrics_url)
    if sys.stderr is not None and sys.stderr.isatty():
        for line in sources.describe(url):
            warn(line)


def _serve(
    session: Session,
    sources: "ServiceSources",
    max_requests: int | None,
    on_ready: OnReady,
    read_session: Callable[[], Session],
    is_terminal_gone: Callable[[], bool] | None,
) -> int:
    # Imported here, so that help pages do not load a web server.
    from swapcli.faces.service.access_log import AccessLog
    from swapcli.faces.service.access_policy import PolicyReloader
    from swapcli.faces.service.app import get_metrics, get_policy, open_metrics_port
    from swapcli.faces.service.log_writer import log_stream
    from swapcli.faces.service.market_followers import FollowerThreads
    from swapcli.faces.service.server import bind, metrics_url
    from swapcli.faces.service.server import serve as run

    policy = read_policy(session)
    settings = policy.settings
    enable_garbage_collection()
    with log_stream(sys.stderr) as stream:
        log = AccessLog(stream)
        with FollowerThreads(sources.followed, sources.registry, log) as followers, ExitStack() as stack:
            for node in sources.nodes.values():
                stack.callback(node.close)
            service = open_app(session, sources, policy, log, followers)
            metrics = url_of_metrics = None
            if settings.metrics_port is not None:
                listener = stack.enter_context(bind(settings.host, settings.metrics_port, METRICS_PORT))
                metrics, url_of_metrics = open_metrics_port(service, listener), metrics_url(listener)

            def announce(url: str) -> None:
                _announce(session, sources, lambda line: stream.write(line + "\n"), on_ready, url, url_of_metrics)

            return run(
                service,
                host=settings.host,
                port=settings.port,
                on_ready=announce,
                # With a limit of requests, none should be spent while the first state is read.
                is_prepared=partial(followers.are_settled, session.settings.live_timeout_s) if max_requests else None,
                on_hangup=PolicyReloader(
                    get_policy(service), lambda: read_policy(read_session()), log, sources.registry.clock
                ),
                is_terminal_gone=is_terminal_gone,
                max_requests=max_requests,
                max_connections=settings.max_connections,
                keep_alive_s=settings.keep_alive_s,
                metrics=metrics,
                on_refusal=get_metrics(service).record_refusal,
            )


def _parse_request_limit(once: bool, text: str | None) -> int | None:
    if text is None:
        return 1 if once else None
    if once:
        raise InvalidOption("--once cannot be combined with --max-requests")
    if not (text.isascii() and text.isdigit() and len(text) <= 18 and int(text)):
        raise InvalidOption("--max-requests: expected a whole number above 0")
    return int(text)
