"""Request an offer from an aggregator, and check that the response belongs to the order.

An aggregator is queried only once, because a slow or failing aggregator must not hold up a comparison. One time-out
covers all of its requests. The API key is sent in headers, and never appears in errors.
"""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Mapping
from functools import cache
from typing import Final
from urllib.parse import quote, urlencode

import httpx

from swapcli.core.encoding.http_body import ACCEPTED_ENCODINGS
from swapcli.core.encoding.secret import Secret
from swapcli.core.encoding.strict_json import WrittenFloat, parse_json
from swapcli.core.encoding.text import ELLIPSIS, single_line, truncate
from swapcli.core.errors import InvalidInput, InvalidUpstreamResponse, UpstreamError, UpstreamRejected
from swapcli.core.model.network import Network
from swapcli.core.model.order import Order
from swapcli.core.model.swap_terms import PPM_PER_PERCENT
from swapcli.core.model.token import Token, whole_tokens
from swapcli.core.model.transaction import Transaction
from swapcli.core.model.units import GWEI_DECIMALS
from swapcli.core.networks.address import display_address, is_native, parse_address
from swapcli.core.records import NamedTuple
from swapcli.core.validation.values import MAX_UINT256, MISSING, InvalidValue, describe, parse_hex, parse_integer
from swapcli.quoting.aggregators.aggregator_adapter import FIRST, KEY, AggregatorAdapter, RequestTemplate
from swapcli.quoting.aggregators.templates import MissingField, fill, fill_text, find, text_of
from swapcli.quoting.remote.exchange import RawResponse, exchange_within
from swapcli.quoting.remote.service_url import ServiceUrl
from swapcli.quoting.remote.transport_errors import FailedAttempt, timed_out
from swapcli.state.connect_failure import USER_AGENT

_OK: Final = range(200, 300)
_MAX_PROBLEM_CHARACTERS: Final = 160  # characters of an aggregator's message
_DEFAULT_GAS_PRICE_WEI: Final = 10**9
"""For aggregators that require a gas price, on networks where none is known."""
_MAX_GAS_UNITS: Final = 10**12  # a bound against hostile input; chosen
_MAX_HEX_CHARACTERS: Final = 66  # bytes of a word
_MAX_CALLDATA_BYTES: Final = 128 * 1024
"""Nodes reject larger transactions."""


class AggregatorRequest(NamedTuple):
    """A query to an aggregator: an exact-input order for a sender, who also receives the output."""

    order: Order
    network: Network
    sender: str
    slippage_ppm: int
    gas_price_wei: int | None = None


class AggregatorOffer(NamedTuple):
    """An aggregator's offer: the expected output in base units, the gas estimate, and the transaction.

    `spender` is the contract to approve for the input. A field that the response does not contain is None.
    """

    amount_out: int
    gas_units: int | None = None
    transaction: Transaction | None = None
    spender: str | None = None


def ask_aggregator(
    adapter: AggregatorAdapter, request: AggregatorRequest, key: Secret | None, timeout_s: float
) -> AggregatorOffer:
    """Return an aggregator's offer. Raises `UpstreamError`, which never contains the API key."""
    return _Conversation(adapter, key, timeout_s).hold(request)


class _Conversation:
    """The one or two requests to an aggregator, and its responses."""

    def __init__(self, adapter: AggregatorAdapter, key: Secret | None, timeout_s: float) -> None:
        self._adapter, self._key, self._timeout_s = adapter, key, timeout_s
        self._url = ServiceUrl(adapter.address, adapter.host)

    def hold(self, request: AggregatorRequest) -> AggregatorOffer:
        values, deadline_s = template_values(self._adapter, request), time.monotonic() + self._timeout_s
        answers: list[object] = []
        with self._open() as http:
            for template in self._adapter.requests:
                if answers:
                    values[FIRST] = answers[0]
                answers.append(self._send(http, template, values, deadline_s - time.monotonic()))
        return self._read_offer(answers, values, request.network)

    def _open(self) -> httpx.Client:
        return httpx.Client(
            verify=_ssl_context() if self._url.is_secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            headers={"User-Agent": USER_AGENT, "Accept": "application/json", "Accept-Encoding": ACCEPTED_ENCODINGS},
            # An address that drops packets takes half of the time-out, which leaves the other half for a second
            # address.
            timeout=httpx.Timeout(self._timeout_s, connect=self._timeout_s / 2),
            follow_redirects=False,
            trust_env=False,
        )

    def _send(
        self, http: httpx.Client, template: RequestTemplate, values: Mapping[str, object], left_s: float
    ) -> object:
        """Return the JSON response to a request. Raises `UpstreamError`."""
        if left_s <= 0:
            raise timed_out(self._url, self._timeout_s, has_answered=True).error
        try:
            built = self._build(http, template, values)
        except MissingField as error:
            raise self._nonsense(f"sent a response without {error}") from None
        outcome = exchange_within(self._timeout_s, http, built, self._url, left_s)
        if isinstance(outcome, FailedAttempt):
            raise outcome.error
        return self._parse(outcome)

    def _build(self, http: httpx.Client, template: RequestTemplate, values: Mapping[str, object]) -> httpx.Request:
        path = fill_text(template.path, values, encode=lambda text: quote(text, safe=""))
        query = urlencode([(name, fill_text(value, values)) for name, value in template.query.items()])
        content = None if template.body is None else json.dumps(fill(template.body, values))
        headers = {} if content is None else {"Content-Type": "application/json"}
        secret = {KEY: self._key.reveal()} if self._key else {}
        for name, value in template.headers.items():
            if f"{{{KEY}}}" in value and not secret:
                continue
            headers[name] = fill_text(value, {**values, **secret})
        target = f"{self._adapter.address}{path}" + (f"?{query}" if query else "")
        try:
            return http.build_request(template.method, target, content=content, headers=headers)
        except (httpx.InvalidURL, UnicodeError, ValueError, TypeError):
            # The error may repeat the headers, and with them the key.
            raise self._nonsense("sent a response from which the second request cannot be built") from None

    def _parse(self, response: RawResponse) -> object:
        try:
            document = parse_json(response.body, "its response")
        except InvalidInput as error:
            if response.status not in _OK:
                raise self._rejected(response.status, None) from None
            raise self._nonsense(f"sent an unreadable response: {self._redact(error.message)}") from None
        if response.status not in _OK:
            raise self._rejected(response.status, document)
        return document

    def _read_offer(self, answers: list[object], values: Mapping[str, object], network: Network) -> AggregatorOffer:
        answer, first = answers[-1], answers[0]

        def look(path: str | None) -> object:
            if path is None:
                return None
            root, _, inside = path.partition(".")
            found = find(first, inside) if root == FIRST else find(answer, path)
            return None if found is MISSING else found

        paths = self._adapter.answer
        output = look(paths.output)
        if output is None:
            explained = self._problem(answer)
            raise UpstreamRejected(
                f"{self._url.netloc} made no offer" + (f": {explained}" if explained else ""),
                details={"service": self._url.base_url},
            )
        for path, template in self._adapter.checks.items():
            self._check(path, look(path), fill_text(template, values))
        amount_out = self._amount(paths.output, output)
        gas_units = _gas(look(paths.gas))
        if paths.target is None or look(paths.data) is None:
            return AggregatorOffer(amount_out, gas_units)
        try:
            target = parse_address(str(look(paths.target)), network.kind)
            data = parse_hex(look(paths.data), max_characters=2 + 2 * _MAX_CALLDATA_BYTES)
            wei = look(paths.value)
            value = 0 if wei is None else _quantity(wei)
            approved = look(paths.spender)
            spender = target if approved is None else parse_address(str(approved), network.kind)
        except (InvalidInput, ValueError) as error:
            problem = error.message if isinstance(error, InvalidInput) else str(error)
            raise self._nonsense(f"sent an unreadable transaction: {self._redact(problem)}") from None
        return AggregatorOffer(amount_out, gas_units, Transaction(target, data, value), spender)

    def _check(self, path: str, found: object, due: str) -> None:
        text = None if found is None else text_of(found)
        if text is not None and text.lower() != due.lower():
            raise self._nonsense(f"responded with a different {path}: {self._redact(describe(text))}, not {due}")

    def _amount(self, path: str, value: object) -> int:
        try:
            return parse_integer(value, 0, MAX_UINT256)
        except InvalidValue:
            shown = value.text if isinstance(value, WrittenFloat) else describe(value)
            raise self._nonsense(
                f"responded with {path} {self._redact(shown)}, which is not an amount in base units"
            ) from None

    def _rejected(self, status: int, document: object) -> UpstreamError:
        explained = self._problem(document)
        more = f": {explained}" if explained else ""
        details = {"service": self._url.base_url, "status": status}
        return UpstreamRejected(f"{self._url.netloc} responded with status {status}{more}", details=details)

    def _nonsense(self, problem: str) -> InvalidUpstreamResponse:
        return InvalidUpstreamResponse(f"{self._url.netloc} {problem}", details={"service": self._url.base_url})

    def _problem(self, document: object) -> str:
        """Return the response's error message; empty if it has none."""
        path = self._adapter.answer.problem
        text = find(document, path) if path else None
        return self._redact(text) if isinstance(text, str) else ""

    def _redact(self, text: str) -> str:
        """Return an aggregator's text on one line, without the key, which it may repeat."""
        key = self._key.reveal() if self._key else ""
        return truncate(single_line(text.replace(key, ELLIPSIS) if key else text), _MAX_PROBLEM_CHARACTERS)


def template_values(adapter: AggregatorAdapter, request: AggregatorRequest) -> dict[str, object]:
    """Return the values of the placeholders, except for the API key and the first response."""
    order, network = request.order, request.network
    slippage_ppm = request.slippage_ppm
    gas_price_wei = request.gas_price_wei or network.gas_price_wei or _DEFAULT_GAS_PRICE_WEI

    def address(token: Token) -> str:
        if is_native(token.address, network.kind):
            return display_address(adapter.native_token, network.kind)
        return display_address(token.address, network.kind)

    return {
        "chain": (adapter.chains or {}).get(network.chain_id, str(network.chain_id)),
        "chain_id": network.chain_id,
        "token_in": address(order.token_in),
        "token_out": address(order.token_out),
        "decimals_in": order.token_in.decimals,
        "decimals_out": order.token_out.decimals,
        "amount_in": str(order.amount),
        "amount_in_tokens": whole_tokens(order.amount, order.token_in.decimals).replace(",", ""),
        "sender": display_address(request.sender, network.kind),
        "slippage_percent": slippage_ppm / PPM_PER_PERCENT,
        "slippage_fraction": slippage_ppm / (100 * PPM_PER_PERCENT),
        "slippage_bps": slippage_ppm * 100 // PPM_PER_PERCENT,
        "gas_price_wei": str(gas_price_wei),
        "gas_price_gwei": whole_tokens(gas_price_wei, GWEI_DECIMALS).replace(",", ""),
    }


def _gas(value: object) -> int | None:
    """Return a gas estimate, which some aggregators write as a fraction; None if it cannot be read."""
    if isinstance(value, float):
        return int(value) if 0 <= value <= _MAX_GAS_UNITS else None
    try:
        gas_units = _quantity(value)
    except ValueError:
        return None
    return gas_units if 0 < gas_units <= _MAX_GAS_UNITS else None


def _quantity(value: object) -> int:
    """Parse a decimal number, or a hexadecimal one with 0x. Raises `ValueError`."""
    if isinstance(value, str) and value[:2].lower() == "0x" and len(value) <= _MAX_HEX_CHARACTERS:
        try:
            value = int(value, 16)
        except ValueError:
            raise ValueError(f"{describe(value)} is not a number") from None
    try:
        return parse_integer(value, 0, MAX_UINT256)
    except InvalidValue as error:
        raise ValueError(error.problem) from None


@cache
def _ssl_context() -> ssl.SSLContext:
    """Return the SSL context that all aggregators share: loading the certificate authorities takes about 20 ms."""
    return httpx.create_ssl_context()
