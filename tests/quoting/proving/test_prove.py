"""Runs on a chain with pools of every family: each stage, limits, interruption, resumption, and what no report has."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

import swapcli
from swapcli import InvalidInput, Market, ProofItem, ProofOutcome, ProofStage
from swapcli.core.model.order import UNOWNED_ADDRESS
from swapcli.core.model.router_variant import DEFAULT_VARIANT
from swapcli.interface.json_schemas import build_document_schema
from tests.chain.node.server import SECRET, Failure, stays_silent
from tests.chain.proxy import Proxy, late, open_proxy
from tests.chain.settings import url_of
from tests.chain.trader import Trader
from tests.chain.variant_routers import deploy_reading_router
from tests.examples import few
from tests.quoting.proving.proof_run import ProofUser, of, renew_blocks
from tests.quoting.verification.test_hindsight import announce_swaps, trades
from tests.support.chain import restored
from tests.support.command import clean_environment, run_swapcli
from tests.support.fake_aggregators import Character, fake_aggregators
from tests.support.service_process import SWAPCLI_COMMAND

ORDERS = 4
FEW = ("--orders", str(ORDERS))
MATCH, DIFFERENCE, NOT_CHECKED = ProofOutcome


@pytest.fixture(scope="module")
def chain(shared_trader: Trader) -> Iterator[Trader]:
    with restored(shared_trader) as trader:
        announce_swaps(trader)
        list(trades(trader, 4))
        renew_blocks(trader)
        yield trader


@pytest.fixture
def user(chain: Trader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProofUser:
    user = ProofUser(chain, tmp_path)
    renew_blocks(chain)
    for name in set(os.environ) - clean_environment().keys():
        monkeypatch.delenv(name)
    for name, value in (clean_environment() | user.environment).items():
        monkeypatch.setenv(name, value)
    return user


def test_an_honest_chain_matches(user: ProofUser) -> None:
    ran = user.run(*FEW, "--json")
    assert ran.exit_code == 0, ran.stdout + ran.stderr
    document = ran.json
    assert not list(Draft202012Validator(build_document_schema("prove")).iter_errors(document))
    assert document == user.document()
    assert document["differences"] == 0
    quotes = [item for item in document["items"] if item["stage"] == "quotes"]
    assert len(quotes) == ORDERS
    for item in quotes:
        assert item["outcome"] == "match"
        assert item["expected"] == item["found"]
        assert int(item["found"]) > 0
    outcomes = {stage: Counter(i["outcome"] for i in document["items"] if i["stage"] == stage) for stage in ProofStage}
    assert outcomes[ProofStage.PROOFS] == {"match": ORDERS}
    assert outcomes[ProofStage.SWAPS]["match"] > 0
    (node,) = (item for item in document["items"] if item["stage"] == "nodes")
    assert (node["title"], node["outcome"]) == ("your node", "match")
    assert all(item["reason"] for item in document["items"] if item["outcome"] == "notChecked")
    assert UNOWNED_ADDRESS in ran.stderr, "who is asked, and for whom, is said"


def test_protocols_show_when_a_run_has_last_agreed(user: ProofUser) -> None:
    words = ("protocols", user.network.name, "--json")
    before = {row["protocol"]: row.get("lastAgreed") for row in run_swapcli(*words, env=user.environment).json}
    assert set(before.values()) == {None}
    report = user.prove(orders=0, aggregators=False)
    found = {row["protocol"]: row.get("lastAgreed") for row in run_swapcli(*words, env=user.environment).json}
    verified = {item.facts["protocol"]: item.block for item in of(report, ProofStage.SWAPS, MATCH)}
    assert len(verified) > 3
    newest = {name: row["block"] for name, row in found.items() if row}
    assert newest.keys() == verified.keys()
    assert all(newest[name] >= block for name, block in verified.items() if block)


@pytest.mark.slow
def test_the_orders_are_the_same_in_every_run(user: ProofUser) -> None:
    first, second = (user.prove(orders=ORDERS, aggregators=False, fresh=True) for _ in range(2))
    ids = [[item.id for item in report.of(ProofStage.QUOTES)] for report in (first, second)]
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == ORDERS


def test_a_stale_node_is_a_difference(user: ProofUser) -> None:
    with restored(user.trader) as trader:
        trader.chain.node.ask("evm_setNextBlockTimestamp", hex(int(time.time()) + 3_600))
        trader.chain.node.ask("evm_mine")
        report = user.prove(orders=0, recent=0, aggregators=False)
    (node,) = report.of(ProofStage.NODES)
    assert node.outcome is DIFFERENCE
    assert "in the future" in node.reason


def test_public_nodes_are_named_and_one_that_is_away_is_not_checked(user: ProofUser) -> None:
    away = "http://127.0.0.1:9"
    user.write_settings(public=[away, url_of(user.trader.chain)])
    report = user.prove(orders=2, recent=0, aggregators=False)
    nodes = {item.title: item.outcome for item in report.of(ProofStage.NODES)}
    assert nodes == {away: NOT_CHECKED, url_of(user.trader.chain): MATCH}
    assert len(of(report, ProofStage.QUOTES, MATCH)) == 2, report.of(ProofStage.QUOTES)
    report.check()


def test_a_lying_router_is_a_difference(user: ProofUser) -> None:
    with restored(user.trader) as trader:
        router = deploy_reading_router(trader, DEFAULT_VARIANT, skimmed=1).address
        renew_blocks(trader)
        user.write_settings(network=user.network._replace(router=router))
        ran = user.run("--orders", "3", "--no-aggregators")
    assert ran.exit_code == 7, ran.stdout + ran.stderr
    document = user.document()
    assert document["differences"] == 3
    quotes = [item for item in document["items"] if item["stage"] == "quotes"]
    assert all(item["outcome"] == "difference" for item in quotes)
    assert {int(item["expected"]) - int(item["found"]) for item in quotes} == {1}


def offers(user: ProofUser) -> dict[str, Character]:
    """Return aggregators with the payload of the best route, of which one promises more than that pays."""
    with Market.open(user.network.name) as market:
        quote = market.quote("ETH", "USDC", "$1000")
        payload = quote.prepare(destination=UNOWNED_ADDRESS).payload
    return {
        "honest": Character(str(quote.amount_out), payload),
        "liar": Character(str(quote.amount_out * 11 // 10), payload),
        "mute": Character(str(quote.amount_out)),
    }


def test_a_lying_aggregator_is_a_difference(user: ProofUser) -> None:
    with fake_aggregators(offers(user)) as fake:
        user.write_settings(aggregators=fake.settings())
        report = user.prove(orders=1, recent=0)
        asked = len(fake.server.exchanges)
        assert asked == 3
        found = {item.id.split(" ")[0]: item for item in report.of(ProofStage.OFFERS)}
        assert {name: found[name].outcome for name in fake.characters} == {
            "honest": MATCH, "liar": DIFFERENCE, "mute": NOT_CHECKED,
        }  # fmt: skip
        assert "less than promised" in found["liar"].reason
        assert found["0x"].reason == "it needs an API key"
        assert report.hosts[0] == "your node"
        user.prove(orders=1, recent=0)
        assert len(fake.server.exchanges) == asked + 1, "only the one without a payload is asked again"
        user.prove(orders=1, recent=0, fresh=True, aggregators=False)
        assert len(fake.server.exchanges) == asked + 1


@pytest.fixture
def proxy(user: ProofUser) -> Iterator[Proxy]:
    with open_proxy(user.trader.chain.node.port) as proxy:
        user.write_settings(rpc_url=proxy.url)
        yield proxy


def test_no_report_has_a_secret_or_the_address_of_a_node(user: ProofUser, proxy: Proxy) -> None:
    failing = dict.fromkeys(("eth_simulateV1", "eth_call"))
    ran = user.run(*FEW)
    assert proxy.exchanges
    texts = user.texts() + ran.stdout + ran.stderr
    assert SECRET not in texts
    assert f":{proxy.server_port}" not in user.texts()
    assert failing
    proxy.shutdown()
    proxy.server_close()
    gone = user.run(*FEW, "--fresh")
    assert gone.exit_code == 5, gone.stdout + gone.stderr
    assert "your node" in user.texts()
    assert SECRET not in user.texts() + gone.stdout + gone.stderr
    assert f":{proxy.server_port}" not in user.texts()


@pytest.mark.parametrize("max_requests", few(range(20, 60, 8), 1))
def test_a_run_out_of_requests_raises_no_alarm(user: ProofUser, max_requests: int) -> None:
    with ExitStack() as stack:
        proxies = [stack.enter_context(open_proxy(user.trader.chain.node.port)) for _ in range(2)]
        user.write_settings(public=[f"http://127.0.0.1:{each.server_port}" for each in proxies])
        report = user.prove(orders=4, recent=1, aggregators=False, max_requests=max_requests)
        # A request to a node that loses a race may be abandoned before it arrives.
        assert sum(len(each.exchanges) for each in proxies) <= report.requests <= max_requests
    assert not report.count(DIFFERENCE), [item for item in report.items if item.outcome is DIFFERENCE]


@pytest.mark.parametrize("max_requests", [5, 25])
def test_a_run_keeps_to_its_requests(user: ProofUser, proxy: Proxy, max_requests: int) -> None:
    report = user.prove(orders=10, aggregators=False, max_requests=max_requests)
    assert len(proxy.exchanges) == report.requests <= max_requests
    left_out = of(report, ProofStage.QUOTES, NOT_CHECKED)
    assert left_out
    assert "--max-requests" in left_out[-1].reason


@pytest.mark.parametrize("failure", [late(0.2), stays_silent])
def test_a_run_keeps_to_its_time(user: ProofUser, proxy: Proxy, failure: Failure) -> None:
    proxy.always = failure
    started_s = time.monotonic()
    report = user.prove(orders=20, aggregators=False, time_s=3)
    assert time.monotonic() - started_s < 10, "an item that has begun may end"
    assert "--time" in of(report, ProofStage.QUOTES, NOT_CHECKED)[-1].reason


class _Interruption:
    """Interrupts a run after so many items of a stage."""

    def __init__(self, stage: ProofStage, count: int) -> None:
        self._stage, self._left = stage, count

    def __call__(self, item: ProofItem) -> None:
        self._left -= item.stage is self._stage
        if not self._left:
            raise KeyboardInterrupt


def test_verified_swaps_outlive_an_interruption(user: ProofUser) -> None:
    options: dict[str, Any] = {"orders": 0, "recent": 2, "aggregators": False}
    report = user.prove(**options, report=_Interruption(ProofStage.SWAPS, 3))
    assert report.was_interrupted
    kept = of(report, ProofStage.SWAPS, MATCH)
    assert len(kept) == 3
    resumed = of(user.prove(**options), ProofStage.SWAPS, MATCH)
    assert {item.id for item in kept} < {item.id for item in resumed}
    assert resumed == of(user.prove(**options), ProofStage.SWAPS, MATCH)


@pytest.mark.parametrize("count", few([1, 3], 1))
def test_an_interrupted_run_continues(user: ProofUser, proxy: Proxy, count: int) -> None:
    options: dict[str, Any] = {"orders": ORDERS, "recent": 0, "aggregators": False}
    report = user.prove(**options, report=_Interruption(ProofStage.QUOTES, count))
    assert report.was_interrupted
    assert len(of(report, ProofStage.QUOTES, MATCH)) == count
    assert user.document()["interrupted"] is True
    with pytest.raises(swapcli.Interrupted):
        report.check()
    rest: list[ProofItem] = []
    resumed = user.prove(**options, report=rest.append)
    assert not resumed.was_interrupted
    assert [item.stage for item in rest].count(ProofStage.QUOTES) == ORDERS - count
    assert [item.stage for item in rest].count(ProofStage.NODES) == 0
    assert resumed.resumed_items == count + 1
    assert len(of(resumed, ProofStage.QUOTES, MATCH)) == ORDERS
    before = len(proxy.exchanges)
    again = user.prove(**options)
    assert (again.requests, len(proxy.exchanges)) == (0, before), "all is finished"
    assert again.items == resumed.items


def test_ctrl_c_writes_a_report(user: ProofUser, proxy: Proxy) -> None:
    proxy.always = late(0.1)
    words = ("prove", user.network.name, "--folder", str(user.report_folder), "--no-aggregators")
    with subprocess.Popen(
        [*SWAPCLI_COMMAND, *words], env=clean_environment(user.environment), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        journal, deadline_s = user.report_folder / "journal.jsonl", time.monotonic() + 20
        while not (journal.exists() and '"quotes"' in journal.read_text()):
            assert time.monotonic() < deadline_s
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert "run the same command again for the rest" in stderr
    assert "Live quotes" in stdout
    assert user.document()["interrupted"] is True


def test_a_folder_that_cannot_be_written_is_refused_before_any_request(user: ProofUser, proxy: Proxy) -> None:
    (user.folder / "file").write_text("")
    for folder in (user.folder / "file", user.folder / "file" / "below", Path("/proc/none")):
        ran = user.run("--folder", str(folder))
        assert ran.exit_code == 2, ran.stderr
        assert ran.stderr.startswith("error: cannot write")
        assert len(ran.stderr.splitlines()) <= 2
    assert not proxy.exchanges


@pytest.mark.parametrize(
    "content",
    few([
        b"{}\n", b"garbage", b"\xff\xfe\n", b'{"format":"other"}\n', b"[" * 100_000 + b"\n",
        b'{header}\n{"item":{}}\n', b'{header}\n{"item":{"stage":"nodes"}}\n', b"{header}\nx\n", b"{header}\nx",
        b'{header}\n{"item":5}\n',
    ], 4),
)  # fmt: skip
def test_a_damaged_journal_is_one_sentence(user: ProofUser, proxy: Proxy, content: bytes) -> None:
    user.prove(orders=0, recent=0, aggregators=False)
    journal = user.report_folder / "journal.jsonl"
    header = journal.read_bytes().split(b"\n")[0]
    journal.write_bytes(content.replace(b"{header}", header))
    before = len(proxy.exchanges)
    ran = user.run()
    assert ran.exit_code == 2, ran.stderr
    assert ran.stderr.startswith("error: ")
    assert "journal.jsonl is damaged" in ran.stderr
    assert "--fresh" in ran.stderr
    assert len(proxy.exchanges) == before
    assert user.run("--fresh", "--orders", "0", "--recent", "0", "--no-aggregators").exit_code in (0, 5)


def test_what_a_killed_process_has_begun_to_write_is_dropped(user: ProofUser) -> None:
    options: dict[str, Any] = {"orders": 1, "recent": 0, "aggregators": False}
    first = user.prove(**options)
    journal = user.report_folder / "journal.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(whole + b'{"item":{"stage":"quo')
    assert user.prove(**options).items == first.items
    assert journal.read_bytes() == whole


def test_the_journal_of_another_network_is_refused(user: ProofUser) -> None:
    user.prove(orders=0, recent=0, aggregators=False)
    with pytest.raises(InvalidInput, match=f"belongs to {user.network.name}, not to base") as raised:
        swapcli.prove("base", user.report_folder)
    assert "--fresh" in str(raised.value.hint)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--time", "0"), "time must be from 1"),
        (("--time", "2d"), "time must be from 1"),
        (("--time", "soon"), "a whole number of seconds, or a duration such as 5m"),
        (("--max-requests", "0"), "max-requests must be from 1"),
        (("--orders", "1000"), "orders must be from 0 to 200"),
        (("--orders", "many"), 'expected a whole number, not "many"'),
        (("--recent", "51"), "recent must be from 0 to 50"),
    ],
)
def test_limits_have_a_range(user: ProofUser, words: tuple[str, ...], problem: str) -> None:
    ran = user.run(*words)
    assert (ran.exit_code, problem in ran.stderr) == (2, True), ran.stderr
    assert not user.report_folder.exists()


def test_a_time_may_have_a_unit(user: ProofUser) -> None:
    assert user.run("--time", "2m", "--orders", "0", "--recent", "0", "--no-aggregators").exit_code == 5
    assert user.document()["timeBudgetS"] == 120


def test_settings_that_exclude_nodes_are_heeded(user: ProofUser, proxy: Proxy) -> None:
    user.write_settings(rpc_url=proxy.url, live="never")
    environment = {name: value for name, value in user.environment.items() if name != "SWAPCLI_LIVE"}
    environment["SWAPCLI_LIVE"] = "never"
    ran = subprocess.run(
        [*SWAPCLI_COMMAND, "prove", user.network.name], env=clean_environment(environment), capture_output=True,
        text=True, check=False, cwd=user.folder,
    )  # fmt: skip
    assert ran.returncode == 2
    assert "the setting `live` is `never`" in ran.stderr
    assert not proxy.exchanges


def test_the_json_of_the_folder_is_one_document(user: ProofUser) -> None:
    user.prove(orders=1, recent=0, aggregators=False)
    document = user.document()
    assert document["page"] == "report.html"
    assert str(user.folder) not in json.dumps(document)
