"""The proof of a quote: a document with which others can check its certificate without swapcli."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from functools import cached_property
from hashlib import sha256
from math import ceil
from typing import TYPE_CHECKING, Any, Final, cast

from swapcli.core.errors import NoProof
from swapcli.core.model.market import MarketState
from swapcli.core.model.proof import BoundKind, Direction, LimitReason, ProofLeaf, ProofTerm, ProofWitness, ProvenBound
from swapcli.core.records import NamedTuple
from swapcli.state.markets.pools_field import pool_to_json

if TYPE_CHECKING:
    from os import PathLike

    from swapcli.core.model.quote import Quote
    from swapcli.interface.proof_types import ProofDocumentJson, ProofLeafJson
    from swapcli.quoting.proof_checker import ProofCheck
    from swapcli.quoting.quote_results import QuoteResult, RemoteQuote

FORMAT: Final = "swapcli-proof"
VERSION: Final = 2

_UP: Final = Context(prec=60, rounding=ROUND_CEILING, traps=[])
_DOWN: Final = Context(prec=60, rounding=ROUND_FLOOR, traps=[])
_BOUND: Final = Context(prec=24, rounding=ROUND_CEILING, traps=[])
_GAP_STEP: Final = Decimal("1e-6")  # decimal places of a basis point
_GZIP_LEVEL: Final = 4
"""Level 9 takes five times as long for 4% less."""
_GZIP_HEADER: Final = bytes((0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255))
"""RFC 1952: deflate, no name, time 0, unknown system. This makes equal proofs equal byte for byte."""
_BPS: Final = 10_000
_TRADE_DIGITS: Final = 9
"""Digits of the trades in terms. They only suggest a starting point, so more digits would only take space; chosen."""
_PLACE: Final = "the pools"
_POOLS: Final = "pools as in documents"

Triple = tuple[int, int, int]
"""A direction, as the numbers of its pool and its tokens."""


class Proof:
    """The proof of a quote's certificate. Equal quotes on equal state have byte-for-byte equal proofs.

    Example: `market.quote("ETH", "USDC", "1.5", proof=True).proof().write("proof.json.gz")`. The program
    `scripts/check_proof.py` checks it, and `docs/proof.md` states the theorem.
    """

    def __init__(self, document: ProofDocumentJson, pools: PoolsText | None = None) -> None:
        """Hold a document; `pools` is the JSON of its pools, if known: most of the document."""
        self._document, self._pools = document, pools or PoolsText(_compact(document["pools"]))

    @classmethod
    def of(cls, quote: Quote, market: MarketState) -> Proof:
        """Return the proof of a quote that `Router.quote` returned for `market` with `proof=True`.

        Raises `NoProof` if the quote was requested without a proof, has no finite bound, or uses pools that `market`
        does not contain.
        """
        proven = {} if quote.witness is None else quote.witness.pools
        if any(market.pools.get(key) != pool for key, pool in proven.items()):
            raise NoProof("the quote and this market have different pools", hint="use the market that made the quote")
        return _render(quote, market)

    def check(self, *, recompute: bool = False) -> ProofCheck:
        """Check the proof with `scripts/check_proof.py`. See `check_proof`."""
        from swapcli.quoting.proof_checker import check_proof

        return check_proof(self.to_json(), recompute=recompute)

    def document(self) -> ProofDocumentJson:
        """Return the proof as JSON. `swapcli schema proof` prints its schema."""
        return self._document

    def to_json(self) -> str:
        """Return the proof's document as JSON text."""
        before, after = self._rest()
        return f"{before}{self._pools.text}{after}"

    def write(self, path: str | PathLike[str]) -> None:
        """Write the document to a file. It is compressed if the file's name ends in `.gz`.

        Raises `InvalidInput`, `InputOutputError`.
        """
        from swapcli.state.file_writing import write_user_file

        before, after = self._rest()
        name, content = os.fspath(path), f"{before}{self._pools.text}{after}".encode()
        if name.endswith(".gz"):
            from zlib import Z_FINISH, Z_FULL_FLUSH, crc32

            parts = _deflate(before, Z_FULL_FLUSH), self._pools.packed, _deflate(after, Z_FINISH)
            end = crc32(content).to_bytes(4, "little") + (len(content) & 0xFFFFFFFF).to_bytes(4, "little")
            content = b"".join((_GZIP_HEADER, *parts, end))
        write_user_file(name, content)

    def _rest(self) -> tuple[str, str]:
        """Return the text before the pools and the text after them."""
        before, _, after = _compact({**self._document, "pools": _PLACE}).partition(f'"{_PLACE}"')
        return before, f"{after}\n"


class PoolsText:
    """The JSON of a state's pools, also as a part of a compressed file."""

    def __init__(self, text: str) -> None:
        """Hold the text."""
        self.text = text

    @cached_property
    def packed(self) -> bytes:
        """The JSON as compressed blocks that do not depend on earlier data. They are cached, because producing them
        takes most of the time of writing a compressed file."""
        from zlib import Z_FULL_FLUSH

        return _deflate(self.text, Z_FULL_FLUSH)


def prove(answer: QuoteResult) -> Proof:
    """Return the proof of a quote. Raises `NoProof` if the quote was requested without a proof."""
    from swapcli.quoting.quote_results import RemoteQuote

    if isinstance(answer, RemoteQuote):
        return _proof_of_service(answer)
    if answer.network.wraps(answer.order):
        raise NoProof("wrapping the native token needs no proof, because it is one to one", hint="quote without proof")
    state = answer.state_source
    assert state.provenance is not None  # may be unknown only for a service's route
    market = MarketState(
        answer.network,
        answer.tokens,
        answer.pools,
        state.provenance,
        state.description,
        answer.quote.gas_price_wei,
        state.block,
        state.timestamp,
        skipped_pools=state.skipped_pools,
    )
    return _render(answer.quote, market)


def _render(quote: Quote, market: MarketState) -> Proof:
    if quote.witness is None:
        raise NoProof("this quote was requested without a proof", hint="quote with proof=True")
    if not all(each.bound.is_finite() for each in quote.witness.bounds):
        raise NoProof("no finite bound was found for this order", hint="exclude protocols with implausible prices")
    renderer = _Renderer(quote, market, quote.witness)
    return Proof(renderer.document(), renderer.pools_text)


def _proof_of_service(answer: RemoteQuote) -> Proof:
    """Return the proof that a service sent with its route. Only its amounts are compared with the route's."""
    document, result = answer.proof, answer.result
    if document is None:
        raise NoProof(
            "the service sent no proof with this route, and the route's pools are unknown here",
            hint="quote without a service address (--api-url)",
        )
    route = document.get("route")
    amounts = (route.get("amountIn"), route.get("amountOut")) if isinstance(route, dict) else ()
    if document.get("format") != FORMAT or amounts != (str(result.input_amount), str(result.output_amount)):
        raise NoProof("the service sent a proof for a different route", hint="quote without the service")
    return Proof(cast("ProofDocumentJson", document))


class _RenderedPools(NamedTuple):
    """The pools of a state as documents list them, by key, with their numbers and the numbers of their tokens, by
    address."""

    numbers: Mapping[str, int]
    token_numbers: Mapping[str, int]
    rows: list[dict[str, object]]
    text: PoolsText
    digest: str
    spot_rates: list[list[int | str]]


def _render_pools(witness: ProofWitness) -> _RenderedPools:
    pools, least_gas = witness.pools, witness.gas.least_by_pool
    keys = sorted(pools)
    tokens = sorted({token for key in keys for token in pools[key].tokens})
    token_numbers = {token: number for number, token in enumerate(tokens)}
    rows = [
        pool_to_json(pools[key])
        | {"tokens": [token_numbers[token] for token in pools[key].tokens], "gas": least_gas[key]}
        for key in keys
    ]
    text = _compact(rows)
    numbers = {key: number for number, key in enumerate(keys)}
    spot_rates: list[list[int | str]] = [
        [numbers[pool], token_numbers[token_in], token_numbers[token_out], repr(rate)]
        for (pool, token_in, token_out), rate in sorted(witness.spot_rates.items())
    ]
    digest = sha256(text.encode()).hexdigest()
    return _RenderedPools(numbers, token_numbers, rows, PoolsText(text), digest, spot_rates)


class _Renderer:
    """Renders one proof. Pools are sorted by key and tokens by address; terms refer to them by number."""

    def __init__(self, quote: Quote, market: MarketState, witness: ProofWitness) -> None:
        self._quote, self._market, self._witness = quote, market, witness
        rendered: _RenderedPools | None = witness.shared.get(_POOLS)
        if rendered is None:  # the first proof on this state
            rendered = witness.shared[_POOLS] = _render_pools(witness)
        self._pools = rendered
        self._pool_numbers, self._token_numbers = rendered.numbers, rendered.token_numbers
        self.pools_text = rendered.text

    def document(self) -> ProofDocumentJson:
        quote, market, witness = self._quote, self._market, self._witness
        network, order, gas = market.network, quote.order, witness.gas
        document: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "network": network.name,
            "chainId": str(network.chain_id),
            "state": {
                # The state's description names the node, which strangers need not know and which does not affect the
                # proof.
                "source": str(market.provenance),
                "block": None if market.block is None else str(market.block),
                "blockHash": None,
                "timestamp": market.timestamp,
            },
            "order": {
                "tokenIn": self._token_numbers[order.token_in.address],
                "tokenOut": self._token_numbers[order.token_out.address],
                "exact": "output" if order.reverse else "input",
                "amount": str(order.amount),
            },
            "route": {
                "amountIn": str(quote.amount_in),
                "amountOut": str(quote.amount_out),
                "gasUnits": gas.route,
                "steps": [
                    {
                        "pool": self._pool_numbers[step.pool],
                        "tokenIn": self._token_numbers[step.token_in],
                        "tokenOut": self._token_numbers[step.token_out],
                        "amountIn": str(step.amount_in),
                        "amountOut": str(step.amount_out),
                    }
                    for step in quote.steps
                ],
            },
            "gas": {
                "priceWei": str(quote.gas_price_wei),
                "unitValue": repr(gas.unit_value),
                "valueSource": quote.wei_value and quote.wei_value.source,
                "base": gas.base,
                "tokenBetween": gas.token_between,
            },
            "scope": {
                "pools": len(self._pools.rows),
                "stateHash": self._pools.digest,
                "maxHops": witness.max_hops,
                "maxPools": order.max_pools,
                "excludedProtocols": sorted(order.excluded_protocols),
                "skippedPools": [
                    {"pool": each.key, "reason": each.reason}
                    for each in sorted({each.key: each for each in market.skipped_pools}.values())
                ],
                "dust": self._directions(witness.dust),
            },
            "tokens": [
                {"address": address, "symbol": token.symbol, "decimals": token.decimals}
                for address in self._token_numbers
                for token in (market.tokens[address],)
            ],
            "pools": self._pools.rows,
            "bounds": [self._bound(each) for each in witness.bounds],
        }
        return cast("ProofDocumentJson", document)

    def _bound(self, proven: ProvenBound) -> dict[str, object]:
        rendered: dict[str, object] = {"kind": proven.kind.value}
        amount_out, gas = self._quote.amount_out, self._witness.gas
        paid = Decimal(amount_out)
        if proven.kind is BoundKind.NET_OF_GAS:
            paid = _UP.subtract(paid, _DOWN.multiply(_exact(gas.unit_value), Decimal(gas.route)))
        bound = _BOUND.plus(max(proven.bound, paid))
        gap = _UP.multiply(_UP.subtract(_UP.divide(bound, paid), Decimal(1)), Decimal(_BPS))
        rendered["bound"] = _text(bound)
        rendered["gapBps"] = _text(_UP.quantize(gap, _GAP_STEP))
        if proven.limits is None:
            rendered["excluded"] = self._directions(proven.excluded)
        else:
            rendered["limits"] = {
                **self._limits_by_value(proven),
                "spotRates": self._pools.spot_rates,
                "tokens": [
                    [self._token_numbers[each.token], repr(each.amount), each.reason.value]
                    for each in proven.limits.tokens
                ],
            }
        rendered["leaves"] = [self._leaf(each) for each in proven.leaves]
        return rendered

    def _limits_by_value(self, proven: ProvenBound) -> dict[str, object]:
        """Return the prices and terms of limits by value; none if there is no such limit."""
        assert proven.limits is not None
        if not any(each.reason is LimitReason.VALUE for each in proven.limits.tokens):
            return {"prices": [], "terms": []}
        return {"prices": self._prices(proven.limits.prices), "terms": self._terms(proven.limits.terms)}

    def _leaf(self, leaf: ProofLeaf) -> ProofLeafJson:
        return {
            "used": self._directions(leaf.used),
            "unused": self._directions(leaf.unused),
            "before": [[self._token_numbers[each] for each in pair] for pair in leaf.before],
            "prices": self._prices(leaf.prices) if leaf.prices else [],
            "rates": [
                [self._token_numbers[each.token_in], self._token_numbers[each.token_out], repr(each.rate)]
                for each in leaf.rates
            ],
            "product": None if leaf.product is None else repr(leaf.product),
            "terms": self._terms(leaf.terms),
            "bound": _text(_BOUND.plus(max(leaf.bound, Decimal(0)))),
        }

    def _prices(self, prices: Mapping[str, float]) -> list[str | None]:
        return [repr(prices[token]) if token in prices else None for token in self._token_numbers]

    def _terms(self, terms: Iterable[ProofTerm]) -> list[list[int | str]]:
        return [
            [
                *self._triple(term.direction),
                str(-_round_down(-ceil(term.amount_in))),
                str(_round_down(int(term.amount_out))),
                f"{term.marginal_rate:.{_TRADE_DIGITS}g}",
                repr(term.value),
            ]
            for term in sorted(terms)
        ]

    def _directions(self, directions: Iterable[Direction]) -> list[list[int]]:
        return [[*self._triple(each)] for each in directions]

    def _triple(self, direction: Direction) -> Triple:
        pool, token_in, token_out = direction
        return self._pool_numbers[pool], self._token_numbers[token_in], self._token_numbers[token_out]


def _compact(value: object) -> str:
    """Return canonical JSON; `stateHash` is the hash of this text for the pools."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _deflate(text: str, end: int) -> bytes:
    """Return a text compressed separately, without a header; `end` is how zlib ends it."""
    from zlib import DEFLATED, MAX_WBITS, compressobj

    stream = compressobj(_GZIP_LEVEL, DEFLATED, -MAX_WBITS)
    return stream.compress(text.encode()) + stream.flush(end)


def _round_down(amount: int) -> int:
    """Return an amount with only its first `_TRADE_DIGITS` digits, rounded down."""
    unit: int = 10 ** max(0, len(str(abs(amount))) - _TRADE_DIGITS)
    return amount // unit * unit


def _exact(number: float) -> Decimal:
    return Decimal(repr(number))


def _text(number: Decimal) -> str:
    """Return a number without an exponent, unless it is too large or small."""
    return format(number, "f") if -30 < number.adjusted() < 60 else str(number)
