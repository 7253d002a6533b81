"""Parse adapters: those included in swapcli, and those in the setting `aggregators`.

| key | meaning |
|---|---|
| `title` | the name that is shown; without it the key of the adapter |
| `address` | the address that every request goes to: `https://host`, and a path if all requests share one |
| `chains` | `{chain id: name}` of the networks that it knows; without it all, by chain id |
| `native_token` | the address that stands for native currency; without it 0xEeee... |
| `needs_key` | true if it answers only with an API key |
| `requests` | one or two `{method, path, query, headers, body}`, with placeholders in braces |
| `answer` | paths of the last answer: `output`, `gas`, `target`, `data`, `value`, `spender`, `problem` |
| `checks` | `{path: template}`: what fields of the answer must be, where it has them |
| `source`, `checked_on` | where these facts come from, and when that was read |

A path that starts with `first.` refers to the response to the first of two requests. If an adapter in the settings has
the name of an included or installed adapter, it replaces only the keys that it contains.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from swapcli.core.encoding.url import split_url, with_local_scheme
from swapcli.core.errors import ConfigError
from swapcli.core.model.network import Kind
from swapcli.core.networks.definition_fields import DefinitionFields
from swapcli.core.plugins import AGGREGATOR_GROUP, load_plugin, plugins, skipped_plugin
from swapcli.core.validation.values import (
    InvalidValue,
    parse_choice,
    parse_integer,
    parse_object,
    parse_printable,
)
from swapcli.quoting.aggregators.aggregator_adapter import (
    FIRST,
    KEY,
    PLACEHOLDERS,
    AggregatorAdapter,
    AnswerPaths,
    RequestTemplate,
)
from swapcli.quoting.aggregators.templates import placeholders

_DEFINITIONS: Final = Path(__file__).parent / "definitions"
_NATIVE: Final = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
"""The address by which most aggregators name native currency."""
_KEYS: Final = (
    "title", "address", "chains", "native_token", "needs_key", "requests", "answer", "checks", "source", "checked_on",
)  # fmt: skip
_REQUEST_KEYS: Final = ("method", "path", "query", "headers", "body")
_METHODS: Final = ("GET", "POST")
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_OWN_HEADERS: Final = frozenset(
    {"host", "content-length", "content-type", "transfer-encoding", "connection", "accept-encoding"}
)
"""Headers that the HTTP client sets itself."""
_PATH: Final = re.compile(r"/[!-~]*")
_FIELD_PATH: Final = re.compile(r"[^\s.{}]+(\.[^\s.{}]+)*")
_MAX_CHAIN_ID: Final = 2**63 - 1  # a signed 64-bit integer
_MAX_DEPTH: Final = 8  # a bound against mistakes; chosen
_NO_SETTINGS: Final[Mapping[str, Mapping[str, object]]] = MappingProxyType({})


def adapter_names(added: Mapping[str, object] = _NO_SETTINGS) -> tuple[str, ...]:
    """Return the names of all adapters, including adapters in the settings, in alphabetical order."""
    return tuple(sorted({*_packaged(), *added}))


def find_adapter(name: str, added: Mapping[str, Mapping[str, object]] = _NO_SETTINGS) -> AggregatorAdapter:
    """Return the adapter called `name`, which is one of `adapter_names` or comes from an installed package. Raises
    `ConfigError`.

    `added` are the definitions in the settings. A package is imported only if `added` does not describe the adapter in
    full.
    """
    known, own = _packaged(), added.get(name, {})
    if name not in known:
        of_package = None if is_whole(own) else _of_package(name)
        if of_package is not None:
            return parse_adapter(name, {**of_package, **own})._replace(package=plugins(AGGREGATOR_GROUP)[name].origin)
        if not own:
            raise ConfigError(f'no aggregator "{name}"', hint=skipped_plugin(AGGREGATOR_GROUP, name))
        return parse_adapter(name, own)
    return parse_adapter(name, {**known[name], **own}) if own else _packaged_adapter(name)


def is_whole(definition: Mapping[str, object]) -> bool:
    """Return whether a definition in the settings describes an adapter in full, rather than extending a known one."""
    return definition.keys() >= {"address", "requests", "answer"}


def parse_adapter(name: str, mapping: object) -> AggregatorAdapter:
    """Parse an adapter. Raises `ConfigError`, whose message names the key and the expected value."""
    fields = DefinitionFields.of_keys(mapping, f"aggregators.{name}", _KEYS)
    address = fields.read("address", _parse_address)
    requests = _parse_requests(fields)
    answer = DefinitionFields.of_keys(fields.nested("answer").values, fields.path_of("answer"), AnswerPaths._fields)
    has_first = len(requests) > 1
    answer.text("output")
    found = {key: _parse_path(answer, key, has_first=has_first) for key in AnswerPaths._fields[1:]}
    paths = AnswerPaths(_parse_path(answer, "output", has_first=has_first) or "", **found)
    if (paths.target is None) is not (paths.data is None):
        missing = "target" if paths.target is None else "data"
        answer.refuse(answer.path_of(missing), "a path: a transaction has both target and data", None)
    return AggregatorAdapter(
        name=name,
        title=fields.text("title", name),
        address=address,
        chains=_parse_chains(fields),
        native_token=fields.optional_address("native_token", Kind.EVM) or _NATIVE,
        needs_key=fields.boolean("needs_key", default=False),
        requests=requests,
        answer=paths,
        checks=dict(_parse_checks(fields, has_first=has_first)),
        source=fields.text("source", ""),
        checked_on=fields.text("checked_on", ""),
    )


@lru_cache
def _packaged() -> Mapping[str, dict[str, Any]]:
    files = sorted(_DEFINITIONS.glob("*.json"))
    return {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in files}


def _of_package(name: str) -> Mapping[str, object] | None:
    """Return the definition from an installed package; None if there is none, or if the package is skipped."""

    def check(value: object) -> Mapping[str, object]:
        if isinstance(value, Path):
            value = json.loads(value.read_text(encoding="utf-8"))
        if not isinstance(value, Mapping):
            raise TypeError("an adapter must be a mapping, or the pathlib.Path of a JSON file that contains one")
        parse_adapter(name, value)
        return value

    return load_plugin(AGGREGATOR_GROUP, name, check)


@lru_cache
def _packaged_adapter(name: str) -> AggregatorAdapter:
    return parse_adapter(name, _packaged()[name])


def _parse_requests(fields: DefinitionFields) -> tuple[RequestTemplate, ...]:
    requests: list[RequestTemplate] = []
    for path, value in fields.items("requests", 1, 2):
        request = DefinitionFields.of_keys(value, path, _REQUEST_KEYS)
        method = request.read("method", parse_choice, _METHODS)
        body = request.values.get("body")
        if body is not None and method == "GET":
            request.refuse(request.path_of("body"), "no body: the method is GET", body)
        parsed = RequestTemplate(
            method, request.read("path", _parse_url_path), dict(_texts(request, "query")), dict(_headers(request)), body
        )
        _check_body(request, body)
        _check_placeholders(request, parsed, has_first=bool(requests))
        requests.append(parsed)
    return tuple(requests)


def _check_body(request: DefinitionFields, body: object) -> None:
    if _depth(body) > _MAX_DEPTH:
        raise request.failure(request.path_of("body"), f"nested deeper than {_MAX_DEPTH} levels")


def _depth(value: object) -> int:
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return 1 + max((_depth(each) for each in inner), default=0)


def _check_placeholders(request: DefinitionFields, parsed: RequestTemplate, *, has_first: bool) -> None:
    for part in ("path", "query", "headers", "body"):
        for name in placeholders(getattr(parsed, part)):
            root, _, inside = name.partition(".")
            if root == KEY and part != "headers":
                raise request.failure(request.path_of(part), "no {{key}}: the API key goes into headers only")
            if root == FIRST and not has_first:
                raise request.failure(request.path_of(part), f"{{{name}}} needs a request before this one")
            known = (*PLACEHOLDERS, *([KEY] if part == "headers" else []), *([f"{FIRST}.PATH"] if has_first else []))
            if (root == FIRST) is not bool(inside) or (not inside and name not in known):
                raise request.unknown(request.path_of(part), "placeholder", name, known)


def _texts(fields: DefinitionFields, key: str) -> Iterator[tuple[str, str]]:
    for name, path, value in fields.members(key):
        # YAML and JSON write plain numbers without quotes.
        text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
        yield name, fields.parse(path, text, parse_printable)


def _headers(request: DefinitionFields) -> Iterator[tuple[str, str]]:
    for name, value in _texts(request, "headers"):
        path = f"{request.path_of('headers')}.{name}"
        if name.lower() in _OWN_HEADERS or not _HEADER_NAME.fullmatch(name):
            raise request.failure(path, "a header name that swapcli does not set itself")
        if not value.isascii():
            request.refuse(path, "ASCII characters", value)
        yield name, value


def _parse_checks(fields: DefinitionFields, *, has_first: bool) -> Iterator[tuple[str, str]]:
    for path, template in _texts(fields, "checks"):
        where = f"{fields.path_of('checks')}.{path}"
        _check_path(fields, where, path, has_first=has_first)
        for name in placeholders(template):
            if name not in PLACEHOLDERS:
                raise fields.unknown(where, "placeholder", name, PLACEHOLDERS)
        yield path, template


def _parse_path(answer: DefinitionFields, key: str, *, has_first: bool) -> str | None:
    path = answer.optional_text(key)
    if path is not None:
        _check_path(answer, answer.path_of(key), path, has_first=has_first)
    return path


def _check_path(fields: DefinitionFields, where: str, path: str, *, has_first: bool) -> None:
    if not _FIELD_PATH.fullmatch(path):
        fields.refuse(where, "a path of names and indices, as in data.routes.0.amountOut", path)
    if path.split(".")[0] == FIRST and not has_first:
        raise fields.failure(where, f"{path} needs a second request")


def _parse_chains(fields: DefinitionFields) -> dict[int, str] | None:
    if not fields.has("chains"):
        return None
    fields.read("chains", parse_object)
    chains = {}
    for name, path, value in fields.members("chains"):
        chains[fields.parse(path, name, parse_integer, 1, _MAX_CHAIN_ID)] = fields.parse(path, value, parse_printable)
    return chains


def _parse_address(value: object) -> str:
    """Parse the address of an aggregator. It must not hold credentials: a key has a separate setting."""
    expected = "an http or https URL without user name, password and query"
    text = with_local_scheme(parse_printable(value))
    try:
        scheme = split_url(text).scheme
    except ValueError:
        raise InvalidValue(expected, value) from None
    if scheme not in ("http", "https") or any(character in text for character in "@?#{}"):
        raise InvalidValue(expected, value)
    return text.rstrip("/")


def _parse_url_path(value: object) -> str:
    text = parse_printable(value)
    if not _PATH.fullmatch(text) or any(character in text for character in "?#"):
        raise InvalidValue("a path that starts with / and has no query", value)
    return text
