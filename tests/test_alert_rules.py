"""The alert rules, by promtool: each fires in its failure, none for what a real service reports while all is well."""

from __future__ import annotations

import re
import subprocess
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests.support.redis_server import RedisServer
from tests.support.service import build_order_query
from tests.support.service_process import run_service

RULES = Path(__file__).parents[1] / "examples" / "prometheus-rules.yaml"
DOCUMENT: dict[str, Any] = yaml.safe_load(RULES.read_text())
(GROUP,) = DOCUMENT["groups"]
ALERTS: list[dict[str, Any]] = [each for each in GROUP["rules"] if "alert" in each]
NETWORK = 'instance="a",job="swapcli",network="base"'
PROCESS = 'instance="a",job="swapcli"'
STEP_S = 15
HOUR = 3_600 // STEP_S

STAGES: Mapping[str, tuple[Mapping[str, str], str]] = {
    "SwapcliMarketOld": ({f"swapcli_market_age_seconds{{{NETWORK}}}": "1 1 16 31 46 61 76x20"}, "2m"),
    "SwapcliNodeDown": ({f'swapcli_node_up{{{NETWORK},node="2"}}': "1x3 0x20"}, "3m"),
    "SwapcliNodeBehind": ({f'swapcli_node_lag_blocks{{{NETWORK},node="2"}}': "0 1 2 9x20"}, "3m"),
    "SwapcliStoreNotWritten": ({f"swapcli_store_write_failures_total{{{NETWORK}}}": "0x4 1 4 7 10 13x20"}, "2m"),
    "SwapcliSharedStateDown": ({f"swapcli_state_connected{{{PROCESS}}}": "1x3 0x20"}, "2m"),
    "SwapcliKeyFileInvalid": ({f"swapcli_key_file_valid{{{PROCESS}}}": "1x3 0x20"}, "2m"),
    "SwapcliWorkersReplaced": ({f"swapcli_workers_replaced_total{{{PROCESS}}}": "0x4 1 2 3 4x20"}, "2m30s"),
    "SwapcliOverloaded": (
        {
            f'swapcli_refusals_total{{{PROCESS},reason="expected_wait"}}': "0x4 0+9x20",
            f'swapcli_http_requests_total{{{PROCESS},status="200"}}': "0+150x40",
        },
        "4m",
    ),
    "SwapcliEventsLate": (
        {
            f'swapcli_event_delay_seconds_bucket{{{PROCESS},le="2.5"}}': "0+9x40",
            f'swapcli_event_delay_seconds_bucket{{{PROCESS},le="+Inf"}}': "0+10x40",
        },
        "4m",
    ),
    "SwapcliDown": ({f"up{{{PROCESS}}}": "1x3 0x20"}, "2m"),
}
"""Series of each failure, and when its alert fires."""


def promtool(*arguments: str) -> str:
    done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run_promtool_test(folder: Path, series: Mapping[str, str], alerts: list[dict[str, Any]]) -> None:
    """Evaluate the rules on series of one value every `STEP_S`, and compare the alerts."""
    tests = [
        {
            "interval": f"{STEP_S}s",
            "input_series": [{"series": name, "values": values} for name, values in series.items()],
            "alert_rule_test": alerts,
        }
    ]
    file = folder / "test.yaml"
    file.write_text(yaml.safe_dump({"rule_files": [str(RULES)], "evaluation_interval": f"{STEP_S}s", "tests": tests}))
    promtool("test", "rules", str(file))


def test_the_rules_are_valid() -> None:
    assert f"{len(GROUP['rules'])} rules found" in promtool("check", "rules", "--lint-fatal", str(RULES))
    for each in ALERTS:
        assert each["labels"]["severity"] in ("page", "ticket")
        assert each["annotations"].keys() == {"summary", "action"}


def test_every_alert_is_staged() -> None:
    assert {each["alert"] for each in ALERTS} == set(STAGES)


@pytest.mark.parametrize("name", STAGES)
def test_an_alert_fires_in_its_failure_alone(name: str, tmp_path: Path) -> None:
    series, at = STAGES[name]
    (rule,) = (each for each in ALERTS if each["alert"] == name)
    others = [{"eval_time": at, "alertname": each["alert"], "exp_alerts": []} for each in ALERTS if each != rule]
    file = tmp_path / "query.yaml"
    tests = [
        {
            "interval": f"{STEP_S}s",
            "input_series": [{"series": key, "values": values} for key, values in series.items()],
            "promql_expr_test": [
                {
                    "expr": f'count(ALERTS{{alertname="{name}",alertstate="firing"}})',
                    "eval_time": at,
                    "exp_samples": [{"value": 1}],
                }
            ],
            "alert_rule_test": others,
        }
    ]
    document = {"rule_files": [str(RULES)], "evaluation_interval": f"{STEP_S}s", "tests": tests}
    file.write_text(yaml.safe_dump(document))
    promtool("test", "rules", str(file))


@pytest.mark.slow
def test_no_alert_fires_in_a_quiet_hour_of_a_real_service(redis_server: RedisServer, tmp_path: Path) -> None:
    """What a real service reports before and after some quotes goes on for an hour at that pace."""
    env = {"SWAPCLI_SERVICE_STATE_URL": redis_server.url}
    with run_service("--workers", "2", "--networks", "base", "--offline", env=env) as service:
        before = read_samples(service.url)
        query = "&".join(f"{key}={value}" for key, value in build_order_query("base", 10**18).items())
        for _ in range(5):
            assert urllib.request.urlopen(f"{service.url}/base/route?{query}").status == 200
        after = read_samples(service.url)
    series = {name: f"{value}+{after.get(name, value) - value}x{HOUR}" for name, value in before.items()}
    named = set(re.findall(r"swapcli_\w+", RULES.read_text()))
    assert len({name.partition("{")[0] for name in series} & named) >= 6
    times = [f"{minute}m" for minute in range(5, 61, 5)]
    run_promtool_test(
        tmp_path,
        series,
        [{"eval_time": at, "alertname": each["alert"], "exp_alerts": []} for at in times for each in ALERTS],
    )


def read_samples(url: str) -> dict[str, float]:
    """Return the value of each series of a service, with the labels that Prometheus adds."""
    text = urllib.request.urlopen(f"{url}/metrics").read().decode()
    found = {f"up{{{PROCESS}}}": 1.0}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = ",".join([PROCESS, *(f'{key}="{value}"' for key, value in sample.labels.items())])
            found[f"{sample.name}{{{labels}}}"] = sample.value
    return found
