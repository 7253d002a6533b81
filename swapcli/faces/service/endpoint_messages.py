"""The types that a network's endpoints accept and return: a request, its work, a response, and a check on a node."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qsl

from swapcli.core.encoding.strict_json import parse_json
from swapcli.core.errors import InvalidInput
from swapcli.core.model.network import Network
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.core.records import NamedTuple
from swapcli.faces.service.error_responses import Headers
from swapcli.faces.service.key_file import ApiKey
from swapcli.faces.service.worker_thread import IsCancelled
from swapcli.interface.requests import OrderRequest
from swapcli.interface.unknown_parameters import UnknownParameter, find_unknown
from swapcli.quoting.price_policy import PriceUse
from swapcli.quoting.sources.local_quotes import BuiltRoute
from swapcli.state.rpc.node import StateOverrideNode

MAX_QUERY_FIELDS = 1_000

_JSON = "application/json"

NodeCheck = Callable[[StateOverrideNode], object]
"""Checks a response against a node before the response is sent. Raises the `SwapcliError` to send instead."""


class EndpointRequest(NamedTuple):
    """A request to an endpoint of a network.

    `use` is how the response uses prices. `query` and `body` are raw bytes. `path_tail` is the last segment of the
    path. `api_key` is the request's valid API key, or None. `built` collects the routes and states behind the
    response's payloads. With `searches_afresh`, the quote depends only on the order and the state, not on earlier
    searches.

    Parameters and fields that are not among the `known` names are refused if `refuses_unknown` is set, otherwise
    collected in `unknown`.
    """

    network: Network
    use: PriceUse
    query: bytes
    body: bytes
    content_type: str
    path_tail: str
    api_key: ApiKey | None
    built: list[BuiltRoute]
    known: frozenset[str]
    unknown: list[UnknownParameter]
    refuses_unknown: bool = False
    searches_afresh: bool = False

    def record_built(self, built: BuiltRoute) -> UnsignedTransaction:
        """Record a payload's route and state, which are confirmed before the response is sent, and return the
        payload."""
        self.built.append(built)
        return built.payload

    def query_pairs(self) -> list[tuple[str, str]]:
        """Decode the query. Raises `InvalidInput`."""
        try:
            pairs = parse_qsl(
                self.query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MAX_QUERY_FIELDS
            )
        except UnicodeError:
            raise InvalidInput("the query is not valid UTF-8") from None
        except ValueError:
            raise InvalidInput(
                f"the query has more than {MAX_QUERY_FIELDS} fields",
                hint="send each parameter once",
                details={"field": "query"},
            ) from None
        self._check_names([name for name, _ in pairs])
        return pairs

    def json_body(self) -> object:
        """Parse the body as JSON. Raises `InvalidInput`, also if its content type is not JSON."""
        media_type, *parameters = (part.strip().lower() for part in self.content_type.split(";"))
        charsets = [part.removeprefix("charset=").strip('"') for part in parameters if part.startswith("charset=")]
        if media_type != _JSON or any(charset != "utf-8" for charset in charsets):
            raise InvalidInput(f"the body must be JSON, sent with the header Content-Type: {_JSON}")
        document = parse_json(self.body)
        if isinstance(document, dict):
            self._check_names(document)
        return document

    def _check_names(self, names: Iterable[str]) -> None:
        found = find_unknown(names, self.known)
        if found and self.refuses_unknown:
            raise found[0].error
        self.unknown[:] = found


class EndpointResponse(NamedTuple):
    """A successful response: its JSON-ready document, extra headers, and a check to run before it is sent. `amend`
    returns the document with data from a node added. `add_witnesses` returns the document with the number of nodes that
    agree on its state, if the request asks for details.

    If the endpoint's content type is not JSON, the document is a text.
    """

    document: object
    headers: Headers = ()
    check: NodeCheck | None = None
    amend: NodeCheck | None = None
    add_witnesses: Callable[[Any, int], object] | None = None


class EndpointWork(NamedTuple):
    """The work for a parsed request. `run` does it on the worker thread, and raises `SwapcliError`.

    `order` is the request's order, if it has one.
    """

    run: Callable[[IsCancelled], EndpointResponse]
    order: OrderRequest | None = None
