"""How a router interprets its calls, as shown by simulations, and the order in which simulations try the variants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from swapcli.core.model.router_variant import ExtraDataForm, RateVariant, RouterVariant
from swapcli.core.records import NamedTuple


def _in_trial_order() -> Iterator[RouterVariant]:
    """Yield the variants, the likely ones first: the published samples have two bytes, or one word."""
    likely = (ExtraDataForm.TWO_BYTES, ExtraDataForm.WORD, ExtraDataForm.EMPTY)
    others = (ExtraDataForm.THREE_BYTES, ExtraDataForm.TWO_BYTES_OR_WORD)
    for form in likely:
        yield RouterVariant(RateVariant.RELATIVE, form)
        yield RouterVariant(RateVariant.ABSOLUTE_INPUT, form)
    for form in likely:
        yield RouterVariant(RateVariant.ABSOLUTE, form)
    for form in others:
        for rate in RateVariant:
            yield RouterVariant(rate, form)


VARIANTS = tuple(_in_trial_order())
"""Every variant that is the same for all protocols, in the order in which simulations try them."""


class RouterFinding(NamedTuple):
    """The simulation results for calls with one protocol: the rates and forms consistent with all simulations.

    `block` and `found_s` (Unix) are the block and the time of the latest simulation.
    """

    rates: tuple[RateVariant, ...]
    forms: tuple[ExtraDataForm, ...]
    block: int
    found_s: int


class RouterFindings(NamedTuple):
    """The simulation results for one router, by protocol ID, obtained while its code had the hash `code_hash`."""

    code_hash: str
    protocols: Mapping[int, RouterFinding] = MappingProxyType({})

    def rates(self) -> tuple[RateVariant, ...]:
        """Return the rate variants consistent with all simulations."""
        return tuple(each for each in RateVariant if all(each in found.rates for found in self.protocols.values()))

    def forms_of(self, protocol_id: int) -> tuple[ExtraDataForm, ...]:
        """Return the forms consistent with the simulations of a protocol; all forms if the protocol has no
        simulations."""
        found = self.protocols.get(protocol_id)
        return found.forms if found else tuple(ExtraDataForm)

    def variant(self) -> RouterVariant:
        """Return the first variant, in trial order, that is consistent with the most protocols.

        A protocol whose simulations require a different form keeps that form.
        """
        rates = self.rates() or tuple(RateVariant)
        possible = [each for each in VARIANTS if each.rate in rates]
        variant = max(
            possible, key=lambda each: sum(each.extra_data in found.forms for found in self.protocols.values())
        )
        for protocol_id, found in self.protocols.items():
            if variant.extra_data not in found.forms:
                variant = variant.with_form(protocol_id, found.forms[0])
        return variant

    def variants(self, variant: RouterVariant, protocol_ids: Iterable[int]) -> Iterator[RouterVariant]:
        """Yield `variant` with each other rate or form that is consistent with the simulations, one change at a
        time."""
        for rate in self.rates() or tuple(RateVariant):
            if rate != variant.rate:
                yield variant._replace(rate=rate)
        for protocol_id in protocol_ids:
            for form in self.forms_of(protocol_id):
                if form != variant.form_of(protocol_id):
                    yield variant.with_form(protocol_id, form)

    def with_findings(self, new: Mapping[int, RouterFinding]) -> RouterFindings:
        """Return the findings with `new` ones added. Old findings that contradict a new one are dropped."""
        merged = {protocol_id: _narrow(self.protocols.get(protocol_id), found) for protocol_id, found in new.items()}
        rates = RouterFindings(self.code_hash, merged).rates()
        for protocol_id, old in self.protocols.items():
            still = tuple(each for each in old.rates if each in rates)
            if protocol_id not in merged and still:
                merged[protocol_id] = old._replace(rates=still)
        return self._replace(protocols=merged)


NO_FINDINGS = RouterFindings("")


def _narrow(old: RouterFinding | None, new: RouterFinding) -> RouterFinding:
    """Return the values in both, or `new` alone if there are none."""
    if old is None:
        return new
    rates = tuple(each for each in new.rates if each in old.rates)
    forms = tuple(each for each in new.forms if each in old.forms)
    return new._replace(rates=rates, forms=forms) if rates and forms else new
