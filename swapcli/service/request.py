"""A request as the endpoints see it."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import parse_qsl

from swapcli.encoding.strict_json import parse_json
from swapcli.errors import InvalidInput
from swapcli.model.network import Network
from swapcli.service.key_file import ApiKey
from swapcli.service.worker import IsCancelled

MAX_QUERY_FIELDS = 1_000

_JSON = "application/json"


class EndpointRequest(NamedTuple):
    """A request to an endpoint of a network. `query` and `body` are still as they were sent; `rest` is what the path
    says beyond its pattern, `key` the API key that came with it, if one did and is good."""

    network: Network
    query: bytes
    body: bytes
    content_type: str
    path_tail: str
    api_key: ApiKey | None
    is_cancelled: IsCancelled

    def query_pairs(self) -> list[tuple[str, str]]:
        """The query, decoded. Raises `InvalidInput`."""
        try:
            return parse_qsl(
                self.query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MAX_QUERY_FIELDS
            )
        except UnicodeError:
            raise InvalidInput("the query is not valid UTF-8") from None
        except ValueError:
            raise InvalidInput(f"the query has more than {MAX_QUERY_FIELDS} fields") from None

    def json_body(self) -> object:
        """The body's JSON. Raises `InvalidInput`."""
        kind, *parameters = (part.strip().lower() for part in self.content_type.split(";"))
        charsets = [part.removeprefix("charset=").strip('"') for part in parameters if part.startswith("charset=")]
        if kind != _JSON or any(charset != "utf-8" for charset in charsets):
            raise InvalidInput(f"the body must be JSON, sent with the header Content-Type: {_JSON}")
        return parse_json(self.body)
