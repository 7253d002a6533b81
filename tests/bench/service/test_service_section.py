"""Each bar of the service can be missed."""

from __future__ import annotations

from dataclasses import replace

from bench.service.abuse import AbuseFigures, Load
from bench.service.feed_section import FeedFigures, feed_section
from bench.service.question import answer
from bench.service.service_section import service_section
from bench.service.workers_section import WorkersFigures, workers_section
from tests.bench.service.figures import abuse_figures, service_figures, workers_figures
from tests.bench.support import missed, missed_rows


def test_each_threshold_of_abusive_clients_can_be_missed() -> None:
    def missed_beside(abuse: AbuseFigures) -> list[str]:
        service = replace(service_figures(), abuse=abuse)
        section = service_section(service)
        assert len(section.checks) == 9
        assert set(missed_rows(answer(service, None))) == {
            figure.removeprefix("service, ").replace("in 50 reloads", "while the service reloads")
            for figure in missed(section)
            if "header lines" not in figure
        }
        return missed(section)

    assert missed_beside(abuse_figures()) == []
    assert missed_beside(abuse_figures(beside_ms=(50.1,) * 200)) == [
        "service, times longer beside abusive clients, p99"
    ]
    assert missed_beside(abuse_figures(many=Load(159.0, 9.0))) == ["service, good answers kept in overload, %"]
    assert missed_beside(abuse_figures(memory_bytes=151 * 10**6)) == ["service, memory after header lines, MB"]
    assert missed_beside(abuse_figures(lost=1)) == ["service, requests lost in 50 reloads"]


def test_each_threshold_of_workers_can_be_missed() -> None:
    def missed_by(figures: WorkersFigures) -> list[str]:
        section = workers_section(figures)
        assert len(section.checks) == 3
        return missed(section)

    assert missed_by(workers_figures()) == []
    assert missed_by(workers_figures(few_per_s=367.0, many_per_s=350.0)) == ["workers, speedup"]
    assert missed_by(workers_figures(many_per_s=319.0)) == ["workers, good answers in overload, %"]
    assert missed_by(workers_figures(worker_mb=51)) == ["workers, memory, MB"]


def test_a_slow_health_check_or_a_lost_response_is_a_miss() -> None:
    assert all(check.is_met for check in service_section(service_figures()).checks)
    for bad in (service_figures(health_ms=20.1), service_figures(lost="7")):
        assert sum(not check.is_met for check in service_section(bad).checks) == 1


FEED = FeedFigures(9, 1, 10**6, 10**3, 1.0, 10**8, 2 * 10**8, 100.0, 10.0, (1.0,), 50.0)


def test_the_memory_of_a_feed_has_a_threshold() -> None:
    assert not missed(feed_section(FEED))
    assert missed(feed_section(replace(FEED, peak_bytes=400_000_001))) == ["bytes of a service over a feed of 9 pools"]


def test_the_page_has_a_row_for_each_figure_of_the_service() -> None:
    whole = answer(replace(service_figures(), abuse=abuse_figures()), workers_figures())
    assert [len(table.rows) for table in whole.tables] == [5 + 3 + 1]
    assert missed_rows(whole) == []
    assert missed_rows(answer(service_figures(health_ms=20.1), workers_figures(few_per_s=367.0, many_per_s=350.0))) == [
        "health checks under load, p99 ms",
        "routes of 2 workers to those of one process",
    ]
