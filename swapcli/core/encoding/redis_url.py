"""The address of a Redis or Valkey server, and its form without username and password."""

from __future__ import annotations

from swapcli.core.encoding.url import split_url
from swapcli.core.records import NamedTuple

DEFAULT_PORT = 6379  # the default Redis port

_MAX_DATABASE = 65_535  # a bound against mistakes; chosen


class RedisUrl(NamedTuple):
    """A Redis server reached over TCP (`host`, `port`) or through a Unix socket (`socket_path`), and a database number.

    Example: `RedisUrl.parse("rediss://:secret@redis.example/2").shown` is `"rediss://redis.example:6379/2"`.
    """

    host: str = ""
    port: int = DEFAULT_PORT
    socket_path: str = ""
    database: int = 0
    username: str | None = None
    password: str | None = None
    uses_tls: bool = False

    @classmethod
    def parse(cls, text: str) -> RedisUrl:
        """Parse `redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]`, `rediss://` for TLS, or `unix://[...@]/PATH[?db=N]`.

        Raises `ValueError`, whose message does not repeat the text.
        """
        from urllib.parse import unquote

        scheme, separator, rest = text.partition("://")
        scheme = scheme.lower()
        if not separator or scheme not in ("redis", "rediss", "unix"):
            raise ValueError("not a Redis URL")
        if scheme == "unix":
            credentials, at_sign, path = rest.rpartition("@") if not rest.startswith("/") else ("", "", rest)
            rest = f"{credentials}{at_sign}localhost{path}"
            if not path.startswith("/"):
                raise ValueError("not a socket path")
        parts = split_url(f"{scheme}://{rest}")
        if parts.fragment or "#" in text or (scheme != "unix" and "?" in text):
            raise ValueError("an unknown option")
        server = cls(
            database=_parse_database(parts.query.removeprefix("db=") if scheme == "unix" else parts.path.strip("/")),
            username=unquote(parts.username) if parts.username else None,
            password=unquote(parts.password) if parts.password else None,
            uses_tls=scheme == "rediss",
        )
        if scheme == "unix":
            return server._replace(socket_path=unquote(parts.path))
        return server._replace(host=parts.hostname or "", port=parts.port or DEFAULT_PORT)

    @property
    def shown(self) -> str:
        """The address without username and password."""
        if self.socket_path:
            return f"unix://{self.socket_path}" + (f"?db={self.database}" if self.database else "")
        host = f"[{self.host}]" if ":" in self.host else self.host
        database = f"/{self.database}" if self.database else ""
        return f"{'rediss' if self.uses_tls else 'redis'}://{host}:{self.port}{database}"


def _parse_database(text: str) -> int:
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and int(text) <= _MAX_DATABASE):
        raise ValueError("not a database number")
    return int(text)
