"""What agrees with all findings about a router is its variant; the newest finding wins."""

from __future__ import annotations

from typing import TypeVar

from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.model.router_findings import NO_FINDINGS, VARIANTS, RouterFinding, RouterFindings
from swapcli.core.model.router_variant import DEFAULT_VARIANT, ExtraDataForm, RateVariant, RouterVariant

Name = TypeVar("Name", RateVariant, ExtraDataForm)


def parts(kind: type[Name]) -> st.SearchStrategy[tuple[Name, ...]]:
    return st.sets(st.sampled_from(kind), min_size=1).map(lambda found: tuple(each for each in kind if each in found))


findings_of_protocols = st.dictionaries(
    st.integers(0, 5),
    st.builds(RouterFinding, parts(RateVariant), parts(ExtraDataForm), st.integers(0, 9), st.integers(0, 9)),
    min_size=1,
)

routers = st.builds(RouterFindings, st.just("0x01"), findings_of_protocols)


def test_every_pair_is_tried_once_and_the_likely_ones_first() -> None:
    assert len(set(VARIANTS)) == len(VARIANTS) == len(RateVariant) * len(ExtraDataForm)
    assert VARIANTS[0] == DEFAULT_VARIANT == NO_FINDINGS.variant()
    assert VARIANTS[1] == RouterVariant(RateVariant.ABSOLUTE_INPUT)


@given(routers)
def test_the_reading_agrees_with_every_protocol(findings: RouterFindings) -> None:
    reading = findings.variant()
    assert all(reading.form_of(protocol_id) in found.forms for protocol_id, found in findings.protocols.items())
    if findings.rates():
        assert reading.rate in findings.rates()


@given(st.sampled_from(RateVariant), st.dictionaries(st.integers(0, 5), st.sampled_from(ExtraDataForm)), st.data())
def test_findings_keep_the_true_reading(
    rate: RateVariant, forms: dict[int, ExtraDataForm], data: st.DataObject
) -> None:
    """No simulation excludes the truth, so none of them may remove it."""
    findings = RouterFindings("0x01")
    for _ in range(data.draw(st.integers(1, 6))):
        rates = data.draw(parts(RateVariant).filter(lambda found: rate in found))
        seen = data.draw(st.sets(st.sampled_from(sorted(forms)))) if forms else set()
        new = {}
        for protocol_id in seen:
            others = data.draw(st.sets(st.sampled_from(ExtraDataForm)))
            new[protocol_id] = RouterFinding(rates, tuple(others | {forms[protocol_id]}), 1, 1)
        findings = findings.with_findings(new)
    assert rate in findings.rates()
    assert all(forms[protocol_id] in found.forms for protocol_id, found in findings.protocols.items())


@given(routers, routers)
def test_the_newest_finding_wins(old: RouterFindings, new: RouterFindings) -> None:
    merged = old.with_findings(new.protocols)
    for protocol_id, found in new.protocols.items():
        assert set(merged.protocols[protocol_id].rates) <= set(found.rates)
        assert set(merged.protocols[protocol_id].forms) <= set(found.forms)
