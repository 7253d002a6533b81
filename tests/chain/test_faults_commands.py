"""Commands that ask a failing node: status 5 and one sentence while it fails, an answer where it passes."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from random import Random
from threading import Timer
from typing import Any

import pytest

from tests.chain import proxy as faults
from tests.chain.anvil import AnvilChain, running_anvil
from tests.chain.living import Village
from tests.chain.modes import HTML, MIXED, REPEATED, check_shown
from tests.chain.node.server import SECRET, Fault, hangs_up, says
from tests.chain.proxy import Proxy, proxying
from tests.chain.settings import write_settings
from tests.examples import examples
from tests.support.command import CommandResult, clean_environment, run_swapcli
from tests.support.service_process import SWAPCLI_COMMAND, TIMEOUT_S

UPSTREAM_STATUS = 5
SEEDS = examples(3, full=6)


class Desk:
    """Somebody with a store of a village, and a node of it behind a proxy that the settings name."""

    def __init__(self, chain: AnvilChain, proxy: Proxy, folder: Path) -> None:
        self.chain, self.proxy, self.folder = chain, proxy, folder
        self.village = Village(chain)
        self.name = self.village.network.name
        self.env = {"SWAPCLI_CONFIG": str(write_settings(folder, self.village.network, proxy.url, timeout_s=0.5))}
        self._folders = count()
        assert self.sync().exit_code == 0

    def route(self, *options: str) -> CommandResult:
        return run_swapcli("route", self.name, "TKN", "USDC", "2", *options, env=self.env)

    def sync(self, *options: str) -> CommandResult:
        return run_swapcli("sync", self.name, *options, env=self.env)

    def new_store(self) -> tuple[str, str]:
        """The option that names a folder for one."""
        return "--store", str(self.folder / f"stores-{next(self._folders)}")


@pytest.fixture(scope="module")
def whole_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with running_anvil() as chain, proxying(chain.node.port) as proxy:
        yield Desk(chain, proxy, tmp_path_factory.mktemp("desk"))


@pytest.fixture
def desk(whole_desk: Desk) -> Iterator[Desk]:
    whole_desk.proxy.faults, whole_desk.proxy.always = [], None
    yield whole_desk
    whole_desk.proxy.faults, whole_desk.proxy.always = [], None


def check_failed(ran: CommandResult, code: str) -> None:
    """Nothing but one object tells of it, in one sentence."""
    assert (ran.exit_code, ran.stdout) == (UPSTREAM_STATUS, "")
    check_shown(ran.stderr)
    assert "Traceback" not in ran.stderr
    assert ran.error["code"] == code
    assert str(ran.error["message"]).isprintable()


LASTING: list[tuple[str, Fault, str]] = [
    ("hangs up", hangs_up, "UNREACHABLE"),
    ("too late", faults.late(1.0), "UPSTREAM_TIMEOUT"),
    ("status 403", says(403, REPEATED.encode()), "UPSTREAM_REFUSED"),
    ("HTML", says(200, HTML), "UPSTREAM_NONSENSE"),
    ("another chain", faults.moves_to(1), "UPSTREAM_NONSENSE"),
    ("refused", faults.refuses_some(Random(1), 1.0, -32_000, REPEATED), "UPSTREAM_REFUSED"),
]
PASSING = [mode for mode in MIXED if mode.passing == (None,)]


@pytest.mark.parametrize(("fault", "code"), [each[1:] for each in LASTING], ids=[each[0] for each in LASTING])
def test_a_live_quote_on_a_node_that_fails_ends_in_a_sentence(desk: Desk, fault: Fault, code: str) -> None:
    desk.proxy.always = fault
    check_failed(desk.route("--json"), code)


@pytest.mark.parametrize(
    ("untroubled", "fault", "code"), [(0, *LASTING[4][1:]), (4, *LASTING[2][1:]), (6, *LASTING[0][1:])]
)
def test_a_sync_from_a_node_that_fails_ends_in_a_sentence_and_goes_on_afterwards(
    desk: Desk, untroubled: int, fault: Fault, code: str
) -> None:
    store = desk.new_store()
    desk.proxy.faults = [faults.passes_on] * untroubled
    desk.proxy.always = fault
    check_failed(desk.sync("--json", *store), code)
    desk.proxy.always = None
    ran = desk.sync("--json", *store)
    assert ran.exit_code == 0, ran.stderr
    whole = json.loads(desk.sync("--json", *desk.new_store()).stdout)
    assert json.loads(ran.stdout)["pools"] == whole["pools"] > 0


@pytest.mark.parametrize("command", ["route", "sync"])
def test_people_are_told_in_a_sentence_and_a_hint(desk: Desk, command: str) -> None:
    desk.proxy.always = faults.moves_to(1)
    ran = desk.route() if command == "route" else desk.sync()
    assert (ran.exit_code, ran.stdout) == (UPSTREAM_STATUS, "")
    check_shown(ran.stderr)
    assert len(ran.stderr.strip().splitlines()) == 2


def test_live_quotes_and_syncs_survive_what_passes(desk: Desk) -> None:
    expected = json.loads(desk.route("--json").stdout)
    for seed in range(SEEDS):
        rng = Random(seed)
        desk.proxy.faults = [faults.passes_on] * rng.randint(0, 2) + [rng.choice(PASSING).fault(rng)]
        ran = desk.route("--json")
        assert ran.exit_code == 0, ran.stderr
        assert json.loads(ran.stdout)["outputAmount"] == expected["outputAmount"]
        check_shown(ran.stderr)
        desk.proxy.faults = [faults.passes_on] * rng.randint(0, 6) + [rng.choice(PASSING).fault(rng)]
        ran = desk.sync("--json", *desk.new_store())
        assert ran.exit_code == 0, ran.stderr
        check_shown(ran.stderr)


def test_a_chain_that_turns_under_a_live_quote_is_asked_anew(desk: Desk) -> None:
    desk.proxy.faults = [faults.passes_on, faults.first(desk.village.turning(Random(5)))]
    ran = desk.route("--json")
    assert ran.exit_code == 0, ran.stderr
    assert json.loads(ran.stdout)["outputAmount"] == json.loads(desk.route("--json").stdout)["outputAmount"]


def test_nobody_asks_the_node_who_stays_offline(desk: Desk) -> None:
    desk.proxy.always = hangs_up
    ran = desk.route("--json", "--offline")
    assert ran.exit_code == 0, ran.stderr


def test_a_watch_goes_on_through_failures_and_turns_of_the_chain(desk: Desk) -> None:
    with watching(desk) as lines:
        assert next(lines)["pools"] > 0
        for fault, times in ((faults.passes_on, 0), (hangs_up, 2), (faults.moves_to(1), 1)):
            desk.proxy.faults = [fault] * times
            desk.village.happen(Random(desk.village.head()))
            assert next(lines)["rewoundTo"] is None
        turn = desk.village.turning(Random(9))
        caught_up = next(lines)["block"]
        turn()
        desk.chain.node.ask("anvil_mine", "0x40")
        while (line := next(lines))["block"] < desk.village.head():
            assert line["block"] > caught_up
        assert line["rewoundTo"] < caught_up


def settings_with(desk: Desk, **more: object) -> dict[str, str]:
    """The environment of somebody whose network says more; the stores are the same."""
    document = json.loads(Path(desk.env["SWAPCLI_CONFIG"]).read_text())
    document["networks"][desk.name] |= more
    file = desk.folder / "other.yaml"
    file.write_text(json.dumps(document))
    return {"SWAPCLI_CONFIG": str(file)}


def test_a_node_that_answers_calls_with_nothing_changes_nothing(desk: Desk) -> None:
    before = json.loads(desk.sync("--json").stdout)["pools"]
    desk.chain.node.ask("evm_mine")
    desk.proxy.always = faults.empties_calls(Random(1))
    check_failed(desk.sync("--json"), "UPSTREAM_NONSENSE")
    check_failed(desk.sync("--json", "--accept-losses"), "UPSTREAM_NONSENSE")
    check_failed(desk.route("--json"), "UPSTREAM_NONSENSE")
    desk.proxy.always = None
    assert json.loads(desk.sync("--json").stdout)["pools"] == before


def test_a_quote_says_whether_its_block_is_proven(desk: Desk) -> None:
    told = json.loads(desk.route("--json").stdout)
    assert (told["market"]["pinned"], told["market"]["proposed"]) == (True, False)
    desk.sync()
    told = json.loads(desk.route("--json", "--offline").stdout)
    assert told["market"]["pinned"] is True
    env = settings_with(desk, head_is_proposed=True)
    ran = run_swapcli("route", desk.name, "TKN", "USDC", "2", env=env)
    assert f"block {desk.village.head()} (proposed, not yet final)" in " ".join(ran.stdout.split())
    desk.proxy.always = faults.ignores_block_numbers(lambda: desk.chain.node.ask("evm_mine"))
    check_failed(desk.route("--json"), "BLOCK_MISMATCH")
    ran = desk.sync("--json")
    assert ran.exit_code == 0, ran.stderr
    assert json.loads(desk.route("--json", "--offline").stdout)["market"]["pinned"] is False
    text = " ".join(desk.route("--offline").stdout.split())
    assert "(not proven by the node)" in text


def test_another_node_of_the_settings_stands_in_and_the_reason_is_said_once(desk: Desk) -> None:
    expected = json.loads(desk.route("--json").stdout)
    direct = f"http://127.0.0.1:{desk.chain.node.port}"
    env = settings_with(desk, rpc_urls=[direct], rpc_headers={"X-Key": f"Bearer {SECRET}"})
    desk.proxy.always = says(401, REPEATED.encode())
    ran = run_swapcli("route", desk.name, "TKN", "USDC", "2", "--json", env=env)
    assert ran.exit_code == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert told["outputAmount"] == expected["outputAmount"]
    assert told["market"]["source"].startswith(f"http://127.0.0.1:{desk.chain.node.port}: ")
    shown = f"http://127.0.0.1:{desk.proxy.server_port}/…"
    assert ran.stderr == f"note: {shown} answered with status 401; asking {direct} from now on\n"
    check_shown(ran.stderr)
    assert desk.proxy.headers[-1]["X-Key"] == f"Bearer {SECRET}"
    ran = run_swapcli("config", "show", "--json", env=env)
    rows = {row["key"]: row["value"] for row in json.loads(ran.stdout)}
    assert rows[f"networks.{desk.name}.rpc_headers"] == "X-Key: ********"
    check_shown(ran.stdout)


@pytest.mark.parametrize("command", ["route", "sync"])
def test_another_node_stands_in_for_one_whose_answers_cannot_be_believed(desk: Desk, command: str) -> None:
    direct = f"http://127.0.0.1:{desk.chain.node.port}"
    env = settings_with(desk, rpc_urls=[direct])
    pools = json.loads(desk.sync("--json").stdout)["pools"]
    desk.chain.node.ask("evm_mine")
    desk.proxy.always = faults.empties_calls(Random(1))
    order = ("TKN", "USDC", "2") if command == "route" else ()
    ran = run_swapcli(command, desk.name, *order, "--json", env=env)
    assert ran.exit_code == 0, ran.stderr
    assert ran.stderr.count(f"asking {direct} from now on") == 1
    assert command == "route" or json.loads(ran.stdout)["pools"] == pools


def test_a_proxy_of_the_environment_is_asked_unless_it_is_exempt(desk: Desk) -> None:
    env = desk.env | {"HTTP_PROXY": "http://127.0.0.1:1"}
    ran = run_swapcli("route", desk.name, "TKN", "USDC", "2", "--json", env=env)
    check_failed(ran, "UNREACHABLE")
    assert "through the proxy 127.0.0.1:1" in ran.error["message"]
    ran = run_swapcli("route", desk.name, "TKN", "USDC", "2", "--json", env=env | {"NO_PROXY": "127.0.0.1"})
    assert ran.exit_code == 0, ran.stderr


@contextmanager
def watching(desk: Desk) -> Iterator[Iterator[dict[str, Any]]]:
    """The lines of a watch of a new store; in the end it is told to stop, and does."""
    command = [*SWAPCLI_COMMAND, "sync", desk.name, "--watch", "--json", *desk.new_store()]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=clean_environment(desk.env), stdout=pipe, stderr=pipe, text=True) as child:
        # Whoever waits for a line that never comes is freed.
        watchdog = Timer(TIMEOUT_S, child.kill)
        watchdog.start()
        try:
            assert child.stdout
            yield map(json.loads, child.stdout)
            child.send_signal(signal.SIGINT)
            _, err = child.communicate()
            assert child.returncode == 0, err
            check_shown(err)
            assert "Traceback" not in err
        finally:
            watchdog.cancel()
            child.kill()
