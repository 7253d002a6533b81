"""The gas of routes is known beforehand."""

from __future__ import annotations

from random import Random

import pytest

from tests.chain.gas import FITTED, Sample, fit, measure, share_within

SEED = 1_000
"""None of those that were fitted to."""


def test_what_was_fitted_tells_the_gas_of_other_routes_to_a_tenth_for_95_in_a_hundred() -> None:
    samples = list(measure(SEED, routes=150))
    assert len(samples) == 150
    assert share_within(samples, FITTED) >= 0.95
    assert all(sample.terms["base"] == 1 and sample.gas_used > 80_000 for sample in samples)


def test_the_fit_finds_the_constants_that_samples_were_made_of() -> None:
    rng = Random("fit")
    samples = []
    for _ in range(100):
        terms = {name: rng.randint(0, 5) for name in FITTED} | {"base": 1}
        samples.append(Sample(terms, 10**6 + sum(FITTED[name] * count for name, count in terms.items())))
    found = fit(samples)
    assert found == {name: pytest.approx(value + (10**6 if name == "base" else 0)) for name, value in FITTED.items()}
    assert share_within(samples, found) == 1
