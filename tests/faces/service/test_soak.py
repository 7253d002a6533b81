"""A service process under mixed requests; the long run is part of the benchmarks."""

from __future__ import annotations

from functools import cache

import pytest

from tests.examples import examples
from tests.faces.service.soak import LEAVING, RECIPIENT, Outcome, soak

REQUESTS = examples(400, full=1_000)
STOP_AFTER = examples(150, full=300)


@cache
def quiet() -> Outcome:
    return soak(REQUESTS)


@cache
def stopped() -> Outcome:
    return soak(REQUESTS, stop_after=STOP_AFTER, seed=8)


@pytest.mark.slow
def test_every_request_is_answered_as_it_should_be() -> None:
    outcome = quiet()
    assert outcome.unexpected == []
    assert set(outcome.sent) == set(outcome.answered) | outcome.left
    assert len(outcome.sent) == REQUESTS
    assert len(outcome.left) > REQUESTS * LEAVING / 3


def test_memory_stays_flat() -> None:
    assert quiet().warm_bytes > 10e6
    assert quiet().growth < 0.1


def test_the_log_has_every_response_and_no_client_data() -> None:
    outcome = quiet()
    logged = outcome.logged
    assert {id_: logged[id_] for id_ in outcome.answered} == outcome.answered
    assert RECIPIENT[2:] not in outcome.log
    assert "amount" not in outcome.log
    assert "%ff" not in outcome.log


@pytest.mark.slow
def test_told_to_stop_it_ends_well() -> None:
    assert stopped().exit_status == 0
    assert stopped().unexpected == []
    assert len(stopped().answered) >= STOP_AFTER * 0.9


@pytest.mark.parametrize("accepted", ["sent before", "in the log"])
def test_told_to_stop_it_answers_all_that_it_has_accepted(accepted: str) -> None:
    outcome = stopped()
    logged = {id_ for id_, status in outcome.logged.items() if status is not None} & set(outcome.sent)
    ids = outcome.before_signal if accepted == "sent before" else logged
    assert len(ids) >= STOP_AFTER * 0.9
    assert ids - outcome.left - set(outcome.answered) == set()


def test_a_service_exits_with_0_when_stopped() -> None:
    assert quiet().exit_status == 0
