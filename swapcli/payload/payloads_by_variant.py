"""Payloads of one route, one for each way in which the public router may read them.

A route, the state of its pools and a variant determine a payload with the amounts of the replay under that variant. The
router's code is not published, so only a simulation can show the right variant; `RouterFindings` has the earlier
results.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from swapcli.core.errors import InvalidInput, InvalidRoute, PoolError
from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.router_findings import NO_FINDINGS, VARIANTS, RouterFinding, RouterFindings
from swapcli.core.model.router_variant import ExtraDataForm, RateVariant, RouterVariant
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.core.records import NamedTuple
from swapcli.core.routing.replay import Replay, replay
from swapcli.payload.dialects import execution_of
from swapcli.payload.payloads import build_transaction


class VariantCertainty(StrEnum):
    """How certain it is that a payload's variant is the right one."""

    SHARED = "shared"
    """The payload is the same under every variant."""
    REMEMBERED = "remembered"
    """Earlier simulations exclude every variant under which the payload would differ."""
    ASSUMED = "assumed"
    """The router may read the payload differently."""


class ReadPayload(NamedTuple):
    """A payload, and the router variant for which it was built."""

    variant: RouterVariant
    payload: UnsignedTransaction


class FittingVariants(NamedTuple):
    """The rate variants and the forms of extra data under which a payload is the same.

    If no single form fits the whole payload, `forms` are the forms that its protocols use.
    """

    rates: tuple[RateVariant, ...]
    forms: tuple[ExtraDataForm, ...]


class RoutePayloads(NamedTuple):
    """The payloads of a route on the state of `pools` (by key), one for each variant of the network's router.

    `gas_units` is the gas estimate for all payloads. `witnesses` and `unconfirmed` are as in `UnsignedTransaction`: all
    payloads are built on the same state.
    """

    result: RouteResult
    pools: Mapping[str, Pool]
    network: Network
    terms: SwapTerms
    findings: RouterFindings = NO_FINDINGS
    gas_units: int | None = None
    witnesses: int | None = None
    unconfirmed: str = ""

    def replay(self, variant: RouterVariant) -> Replay:
        """Return the router's replay under a variant. Raises `PoolError` if it would revert."""
        network = self.network._replace(router_variant=variant)
        return replay(self.pools, self.result.route, self.result.input_amount, execution_of(network))

    def build(self, variant: RouterVariant) -> UnsignedTransaction:
        """Return the payload for a variant of the router. Raises `PoolError`, and `InvalidInput` for values out of
        range."""
        done, network = self.replay(variant), self.network._replace(router_variant=variant)
        payload = build_transaction(self.result, done.steps, done.amount_out, self.pools, network, self.terms)
        return payload._replace(gas_units=self.gas_units, witnesses=self.witnesses, unconfirmed=self.unconfirmed)

    def candidates(self, first: ReadPayload) -> tuple[ReadPayload, ...]:
        """Return the different payloads of all variants: the `first`, then the others in trial order."""
        found = {first.payload.calldata: first}
        for variant in VARIANTS:
            payload = self._build_if_possible(variant)
            if payload is not None:
                found.setdefault(payload.calldata, ReadPayload(variant, payload))
        return tuple(found.values())

    def certainty(self, read: ReadPayload) -> VariantCertainty:
        """Return how certain it is that a payload's variant is the right one."""
        variant, payload = read
        protocol_ids = _protocol_ids(payload)
        if self._is_same(payload, NO_FINDINGS.variants(variant, protocol_ids)):
            return VariantCertainty.SHARED
        if self.findings.protocols and self._is_same(payload, self.findings.variants(variant, protocol_ids)):
            return VariantCertainty.REMEMBERED
        return VariantCertainty.ASSUMED

    def oldest_finding(self, payload: UnsignedTransaction) -> RouterFinding | None:
        """Return the oldest finding on a protocol in the payload, or None if there is none."""
        found = (self.findings.protocols.get(protocol_id) for protocol_id in _protocol_ids(payload))
        return min((each for each in found if each), key=lambda each: each.found_s, default=None)

    def findings_from(self, proven: Sequence[ReadPayload], block: int, now_s: int) -> dict[int, RouterFinding]:
        """Return the findings, by protocol ID, from simulations in which each of the `proven` payloads paid exactly the
        expected amount.

        A protocol has no finding if all of its variants remain possible.
        """
        rates, found = self._fitting_rates(proven), {}
        for protocol_id in _protocol_ids(proven[0].payload):
            forms = tuple(
                form
                for form in ExtraDataForm
                if any(self._is_same(payload, [variant.with_form(protocol_id, form)]) for variant, payload in proven)
            )
            if len(rates) < len(RateVariant) or len(forms) < len(ExtraDataForm):
                found[protocol_id] = RouterFinding(rates, forms, block, now_s)
        return found

    def fitting(self, proven: Sequence[ReadPayload]) -> FittingVariants:
        """Return the variants under which the payloads equal `proven`."""
        forms = tuple(
            form
            for form in ExtraDataForm
            if any(self._is_same(payload, [RouterVariant(variant.rate, form)]) for variant, payload in proven)
        )
        variant, payload = proven[0]
        used = tuple(dict.fromkeys(variant.form_of(protocol_id) for protocol_id in _protocol_ids(payload)))
        return FittingVariants(self._fitting_rates(proven), forms or used)

    def _fitting_rates(self, proven: Sequence[ReadPayload]) -> tuple[RateVariant, ...]:
        return tuple(
            rate
            for rate in RateVariant
            if any(self._is_same(payload, [variant._replace(rate=rate)]) for variant, payload in proven)
        )

    def _is_same(self, payload: UnsignedTransaction, variants: Iterable[RouterVariant]) -> bool:
        """Return whether the payloads under all `variants` are possible and equal to `payload`."""
        others = (self._build_if_possible(variant) for variant in variants)
        return all(other is not None and other.calldata == payload.calldata for other in others)

    def _build_if_possible(self, variant: RouterVariant) -> UnsignedTransaction | None:
        try:
            return self.build(variant)
        except (PoolError, InvalidInput, InvalidRoute):
            return None


def _protocol_ids(payload: UnsignedTransaction) -> tuple[int, ...]:
    return tuple(dict.fromkeys(swap.protocol_id for swap in payload.router_call.swaps))
