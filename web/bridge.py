"""Answers the page's requests with swapcli's library, in the browser's Python.

A request is an action and its parameters as JSON. The reply is JSON too: `{"result": ...}`, or
`{"error": {"code", "message", "hint"}}` with swapcli's own sentences. Nothing here needs a browser: the tests compare
the replies of both Pythons.
"""

from __future__ import annotations

import io
import json
import runpy
from collections.abc import Mapping
from contextlib import redirect_stdout
from decimal import Context, localcontext
from functools import cache
from typing import Any, Final

from swapcli import LocalQuote, Market, SwapcliError, SwapQuote, Token, __version__, decode, networks
from swapcli.quoting.proof_checker import find_checker
from swapcli.state.markets.embedded import embedded_names

Fields = Mapping[str, Any]

_MAX_TOKENS: Final = 400
"""How many tokens the page suggests. An order may name any other by its address."""
_SETTINGS: Final = {"solve_time_s": 60}
"""A browser may take several times as long as a command; the page can stop a search."""
_CHECKER_DIGITS: Final = 60
"""The precision of decimals in `check_proof.py`, which sets it for a whole process."""


class _MarketSlot:
    """Holds the market of the newest request. There is only one, because a large market takes hundreds of megabytes."""

    def __init__(self) -> None:
        self._key: tuple[object, ...] | None = None
        self._market: Market | None = None
        self.warnings: list[str] = []

    def open(self, fields: Fields) -> Market:
        """Return the market of the file `file`, or without one the embedded market of `network`.

        Another file of the same name has another `fileId`.
        """
        file, network, _ = key = fields.get("file"), fields.get("network"), fields.get("fileId")
        if self._market is None or self._key != key:
            self.clear()
            warn = self.warnings.append
            self._market = (
                Market.from_file(file, settings=_SETTINGS, warn=warn)
                if file
                else Market.embedded(str(network), settings=_SETTINGS, warn=warn)
            )
            self._key = key
        return self._market

    def clear(self) -> None:
        if self._market is not None:
            self._market.close()
        self._market, self._key, self.warnings = None, None, []


_slot = _MarketSlot()


def call(action: str, request: str) -> str:
    """Return the reply to a request. Every error becomes a reply."""
    try:
        return json.dumps({"result": _ACTIONS[action](json.loads(request))})
    except SwapcliError as error:
        return _failure(error.code, error.message, error.hint)
    except MemoryError:
        _slot.clear()
        return _failure("OUT_OF_MEMORY", "the browser does not have enough memory for this", "use the swapcli command")
    except Exception as error:
        text = " ".join(f"{type(error).__name__}: {error}".split())
        return _failure("INTERNAL", f"internal error: {text}", "this is a bug in swapcli")


def _failure(code: str, message: str, hint: str | None) -> str:
    return json.dumps({"error": {"code": code, "message": message, "hint": hint}})


def _about(_fields: Fields) -> Any:
    """Return the version, all networks, and those with an embedded market."""
    names = [each["name"] for each in networks(everything=True).document()]
    return {"version": __version__, "networks": names, "embedded": list(embedded_names())}


def _market(fields: Fields) -> Any:
    """Return the facts of a market, with the first tokens of its list."""
    market = _slot.open(fields)
    state, tokens = market.state, [market.network.native, *market.tokens.values()]
    return {
        "network": market.network.name,
        "pools": len(market.pools),
        "kind": state.provenance and state.provenance.value,
        "block": state.block,
        "timestamp": state.timestamp,
        "warnings": _slot.warnings,
        "tokens": [
            {"symbol": each.symbol, "name": each.name, "address": each.address} for each in tokens[:_MAX_TOKENS]
        ],
    }


def _find_quote(fields: Fields, *, proof: bool = False) -> SwapQuote:
    order = fields["tokenIn"], fields["tokenOut"], fields["amount"]
    return _slot.open(fields).quote(*order, certify=bool(fields.get("certify")), proof=proof)


def _quote(fields: Fields) -> Any:
    """Return a quote as `swapcli route --json` prints it, the order's own tokens, its exact swaps, and its picture."""
    quote = _find_quote(fields)
    answer = quote.answer
    assert isinstance(answer, LocalQuote)
    tokens = {quote.network.native.address: quote.network.native, **answer.tokens}
    swaps = []
    for step in answer.quote.steps:
        pool = answer.pools[step.pool]
        protocol = quote.network.protocol(pool.protocol)
        swaps.append(
            {
                "protocol": protocol.display_name if protocol else pool.protocol,
                "pool": step.pool,
                "tokenIn": _token(tokens[step.token_in]),
                "tokenOut": _token(tokens[step.token_out]),
                "amountIn": str(step.amount_in),
                "amountOut": str(step.amount_out),
            }
        )
    return {
        "document": quote.document(),
        "tokenIn": _token(quote.token_in),
        "tokenOut": _token(quote.token_out),
        "swaps": swaps,
        "picture": quote.svg(fields.get("width")),
    }


def _token(token: Token) -> dict[str, Any]:
    return {"symbol": token.symbol, "decimals": token.decimals}


def _proof(fields: Fields) -> Any:
    """Return the proof of a quote as text, which `check` takes."""
    return _find_quote(fields, proof=True).proof().to_json()


def _decode(fields: Fields) -> Any:
    """Return a payload as `swapcli decode --json` prints it, compared with the market file `file` if there is one."""
    warnings: list[str] = []
    facts = {name: fields.get(name) or None for name in ("network", "to", "value", "sender", "destination")}
    settings = {"market": fields["file"]} if fields.get("file") else {}
    decoded = decode(fields["payload"], **facts, offline=True, settings=settings, warn=warnings.append)
    return {"document": decoded.document(), "notes": warnings}


def _check(fields: Fields) -> Any:
    """Return whether the checker accepts the proof in `file`, and its lines. Status 1 rejects, status 2 cannot read."""
    words = [fields["file"], *(["--swapcli"] if fields.get("withLibrary") else [])]
    with localcontext(Context(prec=_CHECKER_DIGITS)), redirect_stdout(io.StringIO()) as printed:
        status = _checker()["main"](words)
    return {"status": status, "lines": printed.getvalue().splitlines()}


@cache
def _checker() -> dict[str, Any]:
    """Return the names of the checker, a program of one file."""
    path = find_checker()
    assert path is not None
    return runpy.run_path(str(path))


_ACTIONS: Final = {
    "about": _about,
    "market": _market,
    "quote": _quote,
    "proof": _proof,
    "decode": _decode,
    "check": _check,
}
