"""A metric keeps its former name beside the present one, with the same values."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from swapcli.core.model import deprecations
from swapcli.core.model.deprecations import DEPRECATIONS, DeprecatedKind, Deprecation, deprecations_of
from swapcli.faces.service.metrics import Metrics
from swapcli.faces.service.refusal_reasons import RefusalReason

FORMER = tuple(
    Deprecation(DeprecatedKind.METRIC, name, present, "0.1.0", "9.0.0", "2026-11-26")
    for name, present in (
        ("swapcli_refused", "swapcli_refusals"),
        ("swapcli_solve_seconds", "swapcli_solve_duration_seconds"),
        ("swapcli_queue", "swapcli_solve_queue_length"),
    )
)


def families(metrics: Metrics) -> dict[str, tuple[str, str, list[tuple[str, dict[str, str], float]]]]:
    """Return type, description and samples of each metric; samples by what follows its name."""
    return {
        each.name: (
            each.type,
            each.documentation,
            [(sample.name.removeprefix(each.name), sample.labels, sample.value) for sample in each.samples],
        )
        for each in text_string_to_metric_families(metrics.render().decode())
    }


def test_former_names_have_the_same_values(monkeypatch: pytest.MonkeyPatch) -> None:
    metrics = Metrics(["base"], ["/health"])
    metrics.record_refusal(RefusalReason.QUEUE)
    metrics.record_solve("base", 0.02)
    metrics.watch_queue(lambda: 3)
    before = families(metrics)
    monkeypatch.setattr(deprecations, "DEPRECATIONS", (*DEPRECATIONS, *FORMER))
    after = families(metrics)
    changing = {"process_cpu_seconds", "process_resident_memory_bytes", "process_virtual_memory_bytes"}
    assert {name: each for name, each in after.items() if name in before.keys() - changing} == {
        name: each for name, each in before.items() if name not in changing
    }
    assert after.keys() - before.keys() == {each.name for each in FORMER}
    for each in FORMER:
        kind, text, samples = after[each.name]
        assert (kind, samples) == (after[each.replacement][0], after[each.replacement][2])
        assert text == f"{each.name} is deprecated, and version 9.0.0 drops it: use {each.replacement}"


def test_every_row_names_a_metric() -> None:
    known = families(Metrics(["base"], ["/health"])).keys()
    former = deprecations_of(DeprecatedKind.METRIC)
    assert known >= former.keys() | {each.replacement for each in former.values()}
