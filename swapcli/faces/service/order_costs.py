"""What orders will cost: the measured times of earlier orders of the same class, of the same pair, or of the client.

The class of an order is read from its raw request, before anything is validated: it decides when an order is served,
never what is answered. Times are in seconds.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

import msgspec

from swapcli.core.records import NamedTuple
from swapcli.interface.quote_parameters import SENT

FIRST_COST_S = 0.002
"""Expected time of the very first order, of which the mean of all orders is not known either: that of an easy one, so
that none is refused before anything was measured."""
MAX_RECORDS = 10_000
"""Maximum number of classes, of pairs and of clients with recorded times; the same as for rate limits."""

_MEAN_WEIGHT = 1 / 16
"""Weight of one order in the mean of all, which should not follow single ones."""
_CLIENT_WEIGHT = 1 / 8
"""Weight of one order in the mean of its client, which starts from that of all: orders of other pairs say little."""
_MAX_ORDER_BODY_BYTES = 4_096
"""Longer bodies are routes that are sent back, whose time depends on their length."""
_MAX_TOKEN_BYTES = 80
"""An address has at most 66 characters."""
_MAX_AMOUNT_DIGITS = 80
"""An amount has 256 bits."""
_OPTIONS = (b"reverse", b"excludeProtocols", b"details", b"protocols", *(each.query.encode() for each in SENT))
"""Parameters that change what a search does."""
_MAX_OPTIONS_BYTES = 200


class OrderClass(NamedTuple):
    """Orders that cost about the same: those of a path, a network and a pair whose amounts have as many bits.

    `tokens` and `options` are as the request spells them, in lower case. A request without an order has no tokens; its
    `size` is the number of bits of its length.
    """

    path: str
    network: str
    tokens: tuple[bytes, bytes] | None
    size: int
    options: bytes = b""

    @property
    def pair(self) -> Hashable:
        """The pair of tokens on its network; None for a request without an order."""
        return (self.network, self.tokens) if self.tokens else None


class CostEstimate(NamedTuple):
    """The expected time of an order; a guess, the mean of all orders, if neither its class, its pair nor its client is
    known."""

    expected_s: float
    is_guess: bool


class _OrderBody(msgspec.Struct):
    """The fields of an order in a body; any of them may have another type, or be missing."""

    token_in: object = msgspec.field(name="tokenInAddress", default=None)
    token_out: object = msgspec.field(name="tokenOutAddress", default=None)
    amount: object = None


def classify_order(path: str, network: str, query: bytes, body: bytes = b"") -> OrderClass:
    """Return the class of a request to the endpoint at `path`: its pattern, not what the client has sent."""
    if body:
        return _classify_body(path, network, body)
    fields = dict([each.partition(b"=")[::2] for each in query.split(b"&")])
    token_in, token_out = fields.get(b"tokenInAddress"), fields.get(b"tokenOutAddress")
    size = _amount_size(fields.get(b"amount", b""))
    if not token_in or not token_out or size is None or len(token_in) + len(token_out) > 2 * _MAX_TOKEN_BYTES:
        return OrderClass(path, network, None, len(query).bit_length())
    options = b"" if len(fields) == 3 else b"&".join([fields.get(name, b"") for name in _OPTIONS])
    tokens = token_in.lower(), token_out.lower()
    return OrderClass(path, network, tokens, size, options[:_MAX_OPTIONS_BYTES].strip(b"&"))


def _classify_body(path: str, network: str, body: bytes) -> OrderClass:
    other = OrderClass(path, network, None, len(body).bit_length())
    if len(body) > _MAX_ORDER_BODY_BYTES:
        return other
    try:
        order = msgspec.json.decode(body, type=_OrderBody)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return other
    size = _amount_size(str(order.amount).encode(errors="replace"))
    if not isinstance(order.token_in, str) or not isinstance(order.token_out, str) or size is None:
        return other
    tokens = (order.token_in.lower().encode(errors="replace"), order.token_out.lower().encode(errors="replace"))
    return OrderClass(path, network, tokens, size) if len(b"".join(tokens)) <= 2 * _MAX_TOKEN_BYTES else other


def _amount_size(digits: bytes) -> int | None:
    """Return the number of bits of an amount; None if it is none."""
    return int(digits).bit_length() if digits.isdigit() and len(digits) <= _MAX_AMOUNT_DIGITS else None


class OrderCosts:
    """Recent times of orders: moving averages in which the newest one counts one half. Not thread-safe.

    Only the newest one counts if it took less than half of the average: the first order of a pair also builds what
    later ones use, and may even load the market.
    """

    def __init__(self, max_records: int = MAX_RECORDS) -> None:
        self._classes: _Averages = _Averages(max_records)
        self._pairs: _Averages = _Averages(max_records)
        self._clients: _Averages = _Averages(max_records)
        self._mean_s = FIRST_COST_S

    def estimate(self, client: str, order_class: OrderClass | None) -> CostEstimate:
        """Return the expected time of an order of a client."""
        expected_s = None
        if order_class is not None:
            expected_s = self._classes.get(order_class)
            if expected_s is None and order_class.tokens:
                expected_s = self._pairs.get(order_class.pair)
        if expected_s is None:
            expected_s = self._clients.get(client)
        return CostEstimate(self._mean_s, True) if expected_s is None else CostEstimate(expected_s, False)

    def record(self, client: str, order_class: OrderClass | None, spent_s: float, *, is_answered: bool = True) -> None:
        """Record the time of an order.

        One that failed may have failed early, so that it only makes other orders of its class and pair look longer.
        """
        self._mean_s += (spent_s - self._mean_s) * _MEAN_WEIGHT
        mean_s = self._clients.get(client)
        mean_s = self._mean_s if mean_s is None else mean_s
        self._clients.set(client, mean_s + (spent_s - mean_s) * _CLIENT_WEIGHT)
        if order_class is not None:
            self._classes.record(order_class, spent_s, may_sink=is_answered)
            if order_class.tokens:
                self._pairs.record(order_class.pair, spent_s, may_sink=is_answered)


class _Averages:
    """Moving averages by key. Beyond the limit, the one that was recorded least recently is dropped."""

    def __init__(self, max_records: int) -> None:
        self._max_records = max_records
        self._mean_s: OrderedDict[Hashable, float] = OrderedDict()

    def get(self, key: Hashable) -> float | None:
        """Return the average of a key; None if there is none."""
        return self._mean_s.get(key)

    def record(self, key: Hashable, spent_s: float, *, may_sink: bool = True) -> None:
        """Record a time; one below the average is left out unless the average `may_sink`."""
        mean_s = self._mean_s.get(key, spent_s)
        if spent_s < mean_s / 2:
            mean_s = spent_s if may_sink else mean_s
        elif may_sink or spent_s > mean_s:
            mean_s = (mean_s + spent_s) / 2
        self.set(key, mean_s)

    def set(self, key: Hashable, mean_s: float) -> None:
        """Set the average of a key."""
        self._mean_s[key] = mean_s
        self._mean_s.move_to_end(key)
        if len(self._mean_s) > self._max_records:
            self._mean_s.popitem(last=False)
