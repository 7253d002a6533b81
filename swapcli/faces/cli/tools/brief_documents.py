"""Shorten the documents of commands for models, which pay for every character.

A brief document has amounts in whole tokens in place of base units, one line per path of a route, and no field that
repeats another or that only programs use. `fit` then shortens lists and texts until the document fits the limit, and
adds a note. With `detail: "full"`, an agent gets the full document.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from swapcli import Network
from swapcli.core.encoding.text import shorten_id, truncate
from swapcli.faces.cli.tools.tool_table import ToolDefinition

MAX_RESPONSE_BYTES: Final = 4_000
"""Maximum size of a result as JSON, including its text."""
MAX_TEXT_BYTES: Final = 3_400
"""Maximum size of a result's text as a JSON string. The rest of the response is for the envelope and a link."""
MAX_ECHO: Final = 200
"""Maximum characters of a value from the agent that any text of a result repeats."""
_MAX_MESSAGE: Final = 600
_NOTES_BYTES: Final = 300
"""Room for notes on what was omitted."""
_MIN_TEXT: Final = 60
_SIGNIFICANT_DIGITS: Final = 6
_WHOLE_FROM: Final = 10.0**_SIGNIFICANT_DIGITS
"""The number from which on amounts have no digits after the decimal point."""
_COMPACT: Final = (",", ":")

_UNUSED: Final = frozenset(
    {
        "acyclicBound", "acyclicGapBps", "amountWithout", "bestQuotesByProtocols", "bound", "calldata", "chainId",
        "estimatedGasUsed", "estimatedGasUsedInUsd", "exactOutput", "factsDate", "gasPriceWei", "gasUnits", "initial",
        "lastAgreed", "liquidityEnds", "meta", "afterGasBound", "placeholderPools", "poolsSource", "pinned",
        "router_address", "routeSwapType", "scope", "selector", "service", "source", "success", "swap_parameters",
        "tag", "time", "timeS", "trailingBytes", "unexplained", "v2",
    }
)  # fmt: skip
"""Fields that brief documents omit, because they are for programs or repeat other fields."""
_UNUSED_BY_DOCUMENT: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "balance": frozenset({"amount"}),
        "price": frozenset({"pools", "path"}),
        "pools": frozenset({"count", "protocolId", "tokens"}),
        "protocols": frozenset({"contract", "confirmed", "dialects", "canSync"}),
        "sync": frozenset({"bytes", "gasPriceWei", "poolsPerSecond", "store", "undoableBlocks"}),
        "health": frozenset({"status"}),
        "networks": frozenset({"factsDate"}),
        "plan": frozenset({"cowTwap", "digest", "frontier", "measuredShare", "moves", "planVersion", "requests"}),
    }
)
_USED_BY_DOCUMENT: Final[Mapping[str, frozenset[str]]] = MappingProxyType({"plan": frozenset({"time"})})
"""Fields of `_UNUSED` that mean something else in a document."""
_ORDER_FIELDS: Final = ("inputToken", "inputAmount", "outputToken", "outputAmount", "route")
_BATCH_FIELDS: Final = (
    "id", "inputAmount", "outputAmount", "minReceived", "outputAfterGas", "priceImpactPercent", "errorMessage",
)  # fmt: skip
"""Fields of a quote in a batch."""
_PROTECTED: Final = frozenset({"warnings", "dangers"})
_PERCENT_FIELDS: Final = MappingProxyType(
    {
        "priceImpact": "priceImpactPercent",
        "slippage": "slippagePercent",
    }
)
"""The names of percentage fields in the tools' documents, by their names in the commands' documents. They include the
unit."""


def name_units(document: Any) -> Any:
    """Return a document, or a JSON schema, in which the names of percentage fields include the unit."""
    if isinstance(document, dict):
        return {_PERCENT_FIELDS.get(key, key): name_units(each) for key, each in document.items()}
    if isinstance(document, list):
        return [name_units(each) for each in document]
    return _PERCENT_FIELDS.get(document, document) if isinstance(document, str) else document


def brief_document(
    tool: ToolDefinition, document: Mapping[str, Any], networks: Mapping[str, Network]
) -> dict[str, Any]:
    """Return the brief form of a tool's full document, of any size. `networks` are the networks named in the
    document."""
    with_amounts = _with_whole_amounts(document)
    if tool.document in ("calldata", "check", "execute"):
        with_amounts = _lift_route(with_amounts)
    unused = _UNUSED | _UNUSED_BY_DOCUMENT.get(tool.document, frozenset())
    unused -= _USED_BY_DOCUMENT.get(tool.document, frozenset())
    network = networks.get(str(document.get("network")))
    brief = _without_unused(with_amounts, unused, network)
    if tool.document == "route-batch":
        results = [{"id": each["id"], **each["result"]} for each in brief["quotes"]]
        states = [each["state"] for each in results if "state" in each][:1]
        quotes = [{name: each[name] for name in _BATCH_FIELDS if name in each} for each in results]
        brief = {**brief, **({"state": states[0]} if states else {}), "quotes": quotes}
    if isinstance(brief.get("transactions"), list):
        brief["transactions"] = [_brief_transaction(each) for each in document["transactions"]]
    for each in brief.get(tool.paged, ()) if "state" in brief else ():
        if each.get("state") == brief["state"]:
            del each["state"]
    shortened: dict[str, Any] = brief
    return shortened


def fit(document: dict[str, Any], paged: str = "", max_bytes: int = MAX_TEXT_BYTES) -> str:
    """Return a document as JSON text that takes at most `max_bytes` when encoded as a JSON string.

    The end of the longest list is cut first, then the longest texts. Notes tell what was omitted. The field page shows
    where the list called `paged` continues.
    """
    counts: dict[str, int] = {}
    size = _size(to_text(document))
    while size > max_bytes - _NOTES_BYTES:
        lists = [(len(to_text(each)), path, each) for path, each in _lists(document) if len(each) > 1]
        if not lists or (size <= max_bytes and not counts):
            break
        _, path, longest = max(lists, key=lambda each: each[:2])
        counts.setdefault(path, len(longest))
        # In proportion, so that few rounds are needed.
        del longest[max(1, min(len(longest) - 1, len(longest) * max_bytes // size)) :]
        size = _size(to_text(document))
    for path, kept in list(_lists(document)):
        if path in counts and path != paged:
            note = f'{path}: {len(kept)} of {counts[path]} shown; detail "full" has all'
            document["notes"] = [*document.get("notes", ()), note]
    if "page" in document:
        document["page"] = page_field(document["page"]["offset"], len(document[paged]), document["page"]["total"])
    text, limit = to_text(document), _MAX_MESSAGE
    while _size(text) > max_bytes and limit >= _MIN_TEXT:
        document = _with_short_texts(document, limit)
        text, limit = to_text(document), limit // 2
    return text


def page_field(offset: int, shown: int, total: int) -> dict[str, int]:
    """Return a list's field page. `nextOffset` is where the rest of the list begins, if there is any."""
    end = offset + shown
    following = {"nextOffset": end} if end < total else {}
    return {"offset": offset, "total": total, **following}


def to_text(document: object) -> str:
    """Return a document as compact JSON, with non-ASCII characters unescaped."""
    return json.dumps(document, separators=_COMPACT, allow_nan=False, ensure_ascii=False)


def bounded_echoes(document: Any, arguments: Mapping[str, Any]) -> Any:
    """Return a document in which every value copied from the call's arguments is cut to `MAX_ECHO` characters."""
    long_values = [each for each in _texts(arguments) if len(each) > MAX_ECHO]
    return _bound(document, long_values)


def _size(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode(errors="replace"))


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield str(key)
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def _bound(value: Any, long_values: Iterable[str]) -> Any:
    if isinstance(value, dict):
        return {truncate(key, MAX_ECHO - 1): _bound(each, long_values) for key, each in value.items()}
    if isinstance(value, list):
        return [_bound(each, long_values) for each in value]
    if not isinstance(value, str) or len(value) <= MAX_ECHO:
        return value
    for each in long_values:
        value = value.replace(each, truncate(each, MAX_ECHO - 1))
    words = (truncate(word, MAX_ECHO - 1) for word in value.split(" "))
    return truncate(" ".join(words), _MAX_MESSAGE)


def _with_short_texts(value: Any, limit: int) -> Any:
    if isinstance(value, dict):
        return {key: _with_short_texts(each, limit) for key, each in value.items()}
    if isinstance(value, list):
        return [_with_short_texts(each, limit) for each in value]
    return truncate(value, limit) if isinstance(value, str) else value


def _lists(node: Any, path: str = "") -> Iterable[tuple[str, list[Any]]]:
    """Yield the lists of a document with their paths, except warnings and dangers, which stay whole."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    if isinstance(node, list) and path:
        yield path, node
    for key, each in items:
        if key not in _PROTECTED:
            yield from _lists(each, f"{path}.{key}" if path else str(key))


def _with_whole_amounts(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a full document with each amount in whole tokens in its place, as in "1.5 ETH"."""
    copied: dict[str, Any] = json.loads(to_text({name: each for name, each in document.items() if name != "amounts"}))
    for amount in document.get("amounts", ()):
        *parents, name = amount["field"].split(".")
        node: Any = copied
        for each in parents:
            node = node[int(each) if isinstance(node, list) else each]
        node[name] = f"{amount['whole']} {amount['symbol']}"
    return copied


def _lift_route(document: dict[str, Any]) -> dict[str, Any]:
    """Return a transaction's document with the fields of its order at the top, as a quote has them."""
    # A router that the interface does not describe has its route under a different name.
    nested = next((document[name] for name in ("route", "quote") if isinstance(document.get(name), dict)), None)
    if nested is None:
        return document
    lifted = {name: nested[name] for name in (*_ORDER_FIELDS, "destination") if name in nested}
    rest = {name: each for name, each in document.items() if each is not nested}
    figures = {name: each for name, each in nested.items() if name in ("minReceived", *_PERCENT_FIELDS.values())}
    return rest | figures | lifted


def _without_unused(node: Any, unused: frozenset[str], network: Network | None) -> Any:
    """Return a node without unused and empty fields, with short numbers, tokens and routes."""
    if isinstance(node, list):
        return [_without_unused(each, unused, network) for each in node]
    if isinstance(node, float):
        rounded = float(f"{node:.{_SIGNIFICANT_DIGITS}g}")
        return int(rounded) if abs(rounded) >= _WHOLE_FROM else rounded
    if not isinstance(node, dict):
        return node
    if "address" in node and "decimals" in node and "pools" not in node:
        return {"symbol": node.get("symbol"), "address": node["address"]}
    if "decimals" in node:
        return {name: each for name, each in node.items() if name not in unused}
    if "pool" in node and isinstance(node.get("inputToken"), dict):
        return _swap_line(node)
    brief = {}
    for name, each in node.items():
        if name == "route" and isinstance(each, list):
            brief[name] = [_path_line(path, network) for path in each]
        elif name not in unused and (each or name in _PROTECTED or (name != "proposed" and each in (0, False))):
            brief[name] = _without_unused(each, unused, network)
    return brief


def _path_line(path: Mapping[str, Any], network: Network | None) -> str:
    """Return a path of a route on one line, as in "60% ETH > USDC (Uniswap V3 40%, Aerodrome 60%)"."""
    hops = []
    for swaps in path["swaps"]:
        sold, bought = (_symbol(swaps[0][f"{end}TokenAddress"], network) for end in ("from", "to"))
        pools = (each["poolName"] + (f" {each['percent']}" if len(swaps) > 1 else "") for each in swaps)
        hops.append(f"{sold} > {bought} ({', '.join(pools)})")
    return f"{path['percent']} {', '.join(hops)}"


def _swap_line(swap: Mapping[str, Any]) -> str:
    """Return a swap of a decoded call on one line."""
    share = "" if swap.get("sharePercent") is None else f"{swap['sharePercent']:g}% "
    sold, bought = (_decoded_token(swap.get(each, {})) for each in ("inputToken", "outputToken"))
    pool = " ".join(filter(None, (swap.get("protocol"), swap["pool"])))
    return f"{share}{sold} > {bought} ({pool})"


def _decoded_token(token: Mapping[str, str]) -> str:
    """Return the symbol of a token, else its address."""
    return token.get("symbol") or token.get("address") or "an unknown token"


def _symbol(address: str, network: Network | None) -> str:
    known = () if network is None else network.tokens
    return next((each.symbol for each in known if each.address == address.lower()), shorten_id(address))


def _brief_transaction(transaction: Mapping[str, Any]) -> dict[str, Any]:
    """Return a transaction without its calldata, which models must not retype."""
    return {name: transaction[name] for name in ("what", "function", "to", "value") if transaction.get(name)}
