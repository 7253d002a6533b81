"""`swapcli serve`: the routing service of the published interface, on the markets of this process."""

# Annotations are values here: they are what Typer reads.

import gc
import json
import os
import sys
from collections.abc import Callable
from ipaddress import ip_address
from typing import TYPE_CHECKING, Annotated

from swapcli.cli import options
from swapcli.cli.files import write_whole
from swapcli.cli.options import FormOptions, option, with_options
from swapcli.cli.output import to_stderr
from swapcli.cli.session import Session, open_session
from swapcli.cli.tree import GroupedCommand, new_app
from swapcli.config.sources import flag
from swapcli.errors import InvalidOption

if TYPE_CHECKING:
    from swapcli.cli.served import Served

LISTENING, ENDING = "Listening", "Ending"

app = new_app()


@app.command(cls=GroupedCommand)
@with_options
def serve(
    *,
    host: Annotated[
        str | None, option("--host", "Address to listen on.  [default: 127.0.0.1]", LISTENING, "ADDRESS")
    ] = None,
    port: Annotated[
        str | None, option("--port", "Port to listen on; 0 takes a free one.  [default: 8000]", LISTENING, "PORT")
    ] = None,
    networks: Annotated[
        list[str] | None, option("--networks", "Networks to serve, with commas.  [default: all]", LISTENING, "LIST")
    ] = None,
    keys_file: options.KeysFile = None,
    ready_file: Annotated[
        str | None, option("--ready-file", "File to write the same line to once it is ready.", LISTENING, "FILE")
    ] = None,
    once: Annotated[bool, option("--once", "Answer one request and end.", ENDING)] = False,
    max_requests: Annotated[
        str | None, option("--max-requests", "Answer so many requests and end.", ENDING, "N")
    ] = None,
    market: options.MarketFile = None,
    skip_bad_pools: options.SkipBadPools = False,
    store: options.StoreDir = None,
    max_age: options.MaxAge = None,
    offline: options.Offline = False,
    form: FormOptions,
) -> int:
    """Serve routes and payloads over HTTP.

    \b
    Example: swapcli serve --port 0 --once

    Once it accepts connections it prints one line of JSON, {"url", "pid", "networks"}. The log, a line of JSON a
    request, goes to stderr. Told to stop by SIGTERM or an interruption, it answers what was asked, and ends with 0.

    Of a network whose node the settings name the pools are kept at its newest block; state that has grown too old is
    answered with 503.
    """
    flags = {
        "service.host": flag("--host", host),
        "service.port": flag("--port", port),
        "service.keys_file": flag("--keys-file", keys_file),
        "market": market,
        "store_dir": flag("--store", store),
        "max_age_s": flag("--max-age", max_age),
    }
    session = open_session(form, flags, offline=offline)
    most = _most_requests(once, max_requests)
    from swapcli.cli.served import open_served

    served = open_served(session, options.listed(networks or ()), skip_bad_pools=skip_bad_pools)
    names = [network.name for network in served.desk.served]

    def on_ready(url: str) -> None:
        _warn_of_strangers(session.settings.service.host)
        line = json.dumps({"url": url, "pid": os.getpid(), "networks": names})
        if ready_file is not None:
            write_whole(ready_file, line + "\n")
        print(line, flush=True)

    return _serve(session, served, most, on_ready)


def _serve(session: Session, served: "Served", most: int | None, on_ready: Callable[[str], None]) -> int:
    # Whoever asks for help should not wait for a web server to be loaded.
    from swapcli.service.access_log import AccessLog
    from swapcli.service.app import create_app
    from swapcli.service.keeping import Keepers
    from swapcli.service.keys import KeyStore
    from swapcli.service.server import serve as run

    keys = KeyStore(session.keys_file())
    keys.check()
    settings = session.settings.service
    # One-shot commands go without it; what runs for long cannot.
    gc.enable()
    log = AccessLog(sys.stderr)
    with Keepers(served.kept, served.desk, log) as keepers:
        service = create_app(served.desk, settings, keys=keys, log=log, failures=keepers.failures, nodes=served.nodes)
        # Where requests are counted, none should be lost while the first state is read.
        is_prepared = keepers.are_settled if most else None
        host, port = settings.host, settings.port
        return run(service, host=host, port=port, on_ready=on_ready, is_prepared=is_prepared, max_requests=most)


def _most_requests(once: bool, text: str | None) -> int | None:
    if text is None:
        return 1 if once else None
    if once:
        raise InvalidOption("--once and --max-requests exclude each other")
    if not (text.isascii() and text.isdigit() and len(text) <= 18 and int(text)):
        raise InvalidOption("--max-requests: expected a whole number above 0")
    return int(text)


def _warn_of_strangers(host: str) -> None:
    if not _is_loopback(host):
        to_stderr(
            f"WARNING: listening on {host}: everybody who reaches this machine can use the service, and nothing"
            " encrypts what is said; put a proxy with TLS before it"
        )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
