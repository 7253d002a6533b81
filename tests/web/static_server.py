"""A plain static server, as `python -m http.server` is, that records the paths it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple


class StaticServer(NamedTuple):
    """The address of a server without a slash at its end, and the paths of its requests so far."""

    url: str
    paths: list[str]


class _RecordingHandler(SimpleHTTPRequestHandler):
    def __init__(self, *args: Any, paths: list[str], **keywords: Any) -> None:
        self._paths = paths
        super().__init__(*args, **keywords)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        del format, args
        self._paths.append(f"{self.command} {self.path}")


@contextmanager
def serve_folder(folder: Path) -> Iterator[StaticServer]:
    """Serve a folder on a free port of loopback."""
    paths: list[str] = []
    handler = partial(_RecordingHandler, directory=str(folder), paths=paths)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield StaticServer(f"http://127.0.0.1:{server.server_port}", paths)
        finally:
            server.shutdown()
            thread.join()
