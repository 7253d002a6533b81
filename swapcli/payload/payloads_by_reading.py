"""Payloads of one route for each way in which the public router may read them.

A route, the state of its pools and a reading determine a payload with the amounts of the replay under that reading. The
router's code is not published, so only a simulation shows the right one; `RouterFindings` has what was found before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from swapcli.core.errors import InvalidInput, InvalidRoute, PoolError
from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.router_findings import NO_FINDINGS, READINGS, Finding, RouterFindings
from swapcli.core.model.router_reading import ExtraDataForm, RateReading, RouterReading
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.core.records import NamedTuple
from swapcli.core.routing.replay import Replay, replay
from swapcli.payload.dialects import execution_of
from swapcli.payload.payloads import build_transaction


class ReadingCertainty(StrEnum):
    """What is known of the reading that a payload was built for."""

    SHARED = "shared"
    """The payload is the same under every reading."""
    REMEMBERED = "remembered"
    """Earlier simulations exclude every reading under which the payload would differ."""
    ASSUMED = "assumed"
    """The router may read the payload otherwise."""


class ReadPayload(NamedTuple):
    """A payload, and the reading of the router that it was built for."""

    reading: RouterReading
    payload: UnsignedTransaction


class FittingReadings(NamedTuple):
    """The readings of rates and the forms of extra data under which a payload is the same.

    If protocols have different forms, `forms` are those.
    """

    rates: tuple[RateReading, ...]
    forms: tuple[ExtraDataForm, ...]


class RoutePayloads(NamedTuple):
    """The payloads of a route on the state of `pools` (by key), for each reading of the network's router.

    `gas_units` is the estimate for all of them.
    """

    result: RouteResult
    pools: Mapping[str, Pool]
    network: Network
    terms: SwapTerms
    findings: RouterFindings = NO_FINDINGS
    gas_units: int | None = None

    def replay(self, reading: RouterReading) -> Replay:
        """Return what the router does under a reading. Raises `PoolError` if it would revert."""
        network = self.network._replace(router_reading=reading)
        return replay(self.pools, self.result.route, self.result.input_amount, execution_of(network))

    def build(self, reading: RouterReading) -> UnsignedTransaction:
        """Return the payload for a reading. Raises `PoolError`, and `InvalidInput` for values that do not fit."""
        done, network = self.replay(reading), self.network._replace(router_reading=reading)
        payload = build_transaction(self.result, done.steps, done.amount_out, self.pools, network, self.terms)
        return payload._replace(gas_units=self.gas_units)

    def candidates(self, first: ReadPayload) -> tuple[ReadPayload, ...]:
        """Return the different payloads of all readings: the `first`, then the others in the order of trials."""
        found = {first.payload.calldata: first}
        for reading in READINGS:
            payload = self._build_if_possible(reading)
            if payload is not None:
                found.setdefault(payload.calldata, ReadPayload(reading, payload))
        return tuple(found.values())

    def certainty(self, read: ReadPayload) -> ReadingCertainty:
        """Return what is known of the reading of a payload."""
        reading, payload = read
        protocol_ids = _protocol_ids(payload)
        if self._is_same(payload, NO_FINDINGS.variants(reading, protocol_ids)):
            return ReadingCertainty.SHARED
        if self.findings.protocols and self._is_same(payload, self.findings.variants(reading, protocol_ids)):
            return ReadingCertainty.REMEMBERED
        return ReadingCertainty.ASSUMED

    def oldest_finding(self, payload: UnsignedTransaction) -> Finding | None:
        """Return the oldest finding on a protocol of the payload; None if there is none."""
        found = (self.findings.protocols.get(protocol_id) for protocol_id in _protocol_ids(payload))
        return min((each for each in found if each), key=lambda each: each.found_s, default=None)

    def findings_from(self, proven: Sequence[ReadPayload], block: int, now_s: int) -> dict[int, Finding]:
        """Return what is shown by simulations in which each of the payloads paid exactly what it should.

        A protocol is left out if every reading of it remains possible.
        """
        rates, found = self._fitting_rates(proven), {}
        for protocol_id in _protocol_ids(proven[0].payload):
            forms = tuple(
                form
                for form in ExtraDataForm
                if any(self._is_same(payload, [reading.with_form(protocol_id, form)]) for reading, payload in proven)
            )
            if len(rates) < len(RateReading) or len(forms) < len(ExtraDataForm):
                found[protocol_id] = Finding(rates, forms, block, now_s)
        return found

    def fitting(self, proven: Sequence[ReadPayload]) -> FittingReadings:
        """Return the readings under which the payloads are those of `proven`."""
        forms = tuple(
            form
            for form in ExtraDataForm
            if any(self._is_same(payload, [RouterReading(reading.rate, form)]) for reading, payload in proven)
        )
        reading, payload = proven[0]
        used = tuple(dict.fromkeys(reading.form_of(protocol_id) for protocol_id in _protocol_ids(payload)))
        return FittingReadings(self._fitting_rates(proven), forms or used)

    def _fitting_rates(self, proven: Sequence[ReadPayload]) -> tuple[RateReading, ...]:
        return tuple(
            rate
            for rate in RateReading
            if any(self._is_same(payload, [reading._replace(rate=rate)]) for reading, payload in proven)
        )

    def _is_same(self, payload: UnsignedTransaction, readings: Iterable[RouterReading]) -> bool:
        """Return whether the payloads of all `readings` are possible and equal to `payload`."""
        others = (self._build_if_possible(reading) for reading in readings)
        return all(other is not None and other.calldata == payload.calldata for other in others)

    def _build_if_possible(self, reading: RouterReading) -> UnsignedTransaction | None:
        try:
            return self.build(reading)
        except (PoolError, InvalidInput, InvalidRoute):
            return None


def _protocol_ids(payload: UnsignedTransaction) -> tuple[int, ...]:
    return tuple(dict.fromkeys(swap.protocol_id for swap in payload.router_call.swaps))
