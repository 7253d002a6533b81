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
from time import monotonic
from typing import Any

import pytest

from tests.chain import proxy as failures
from tests.chain.failure_modes import FAST_MODES, HTML, REPEATED, check_secrets_hidden
from tests.chain.node.server import SECRET, Failure, RpcAnswer, RpcRequest, hangs_up, says
from tests.chain.proxy import Proxy, open_proxy
from tests.chain.settings import write_settings
from tests.chain.small_chain import SmallTestChain
from tests.examples import examples, few, few_rows
from tests.support.chain import restored
from tests.support.command import CommandResult, clean_environment, run_swapcli
from tests.support.service_process import SWAPCLI_COMMAND, TIMEOUT_S

UPSTREAM_STATUS = 5
SEEDS = examples(3, full=6)
TIMES = {"time", "timeS", "ageS", "meta"}


class CommandLineUser:
    """A user with a store of a small chain and a node behind a proxy in the settings."""

    def __init__(self, small_chain: SmallTestChain, proxy: Proxy, folder: Path) -> None:
        self.small_chain, self.proxy, self.folder = small_chain, proxy, folder
        self.chain = small_chain.chain
        self.name = self.small_chain.network.name
        self.env = {"SWAPCLI_CONFIG": str(write_settings(folder, self.small_chain.network, proxy.url, timeout_s=0.5))}
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
def shared_user(
    shared_small_chain: SmallTestChain, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CommandLineUser]:
    with restored(shared_small_chain) as small_chain, open_proxy(small_chain.chain.node.port) as proxy:
        yield CommandLineUser(small_chain, proxy, tmp_path_factory.mktemp("user"))


@pytest.fixture
def user(shared_user: CommandLineUser) -> Iterator[CommandLineUser]:
    shared_user.proxy.failures, shared_user.proxy.always = [], None
    yield shared_user
    shared_user.proxy.failures, shared_user.proxy.always = [], None


def check_failed(ran: CommandResult, code: str) -> None:
    """Check that the output is one error object with a one-sentence message."""
    assert (ran.exit_code, ran.stdout) == (UPSTREAM_STATUS, "")
    check_secrets_hidden(ran.stderr)
    assert "Traceback" not in ran.stderr
    assert ran.error["code"] == code
    assert str(ran.error["message"]).isprintable()


LASTING: list[tuple[str, Failure, str]] = [
    ("hangs up", hangs_up, "UNREACHABLE"),
    ("too late", failures.late(1.0), "UPSTREAM_TIMEOUT"),
    ("status 403", says(403, REPEATED.encode()), "UPSTREAM_REFUSED"),
    ("HTML", says(200, HTML), "UPSTREAM_NONSENSE"),
    ("another chain", failures.moves_to(1), "UPSTREAM_NONSENSE"),
    ("refused", failures.refuses_some(Random(1), 1.0, -32_000, REPEATED), "UPSTREAM_REFUSED"),
]
PASSING = [mode for mode in FAST_MODES if mode.outcomes_if_temporary == (None,)]


@pytest.mark.parametrize(
    ("failure", "code"), few_rows([each[1:] for each in LASTING], 3), ids=[each[0] for each in LASTING]
)
def test_a_live_quote_on_a_failing_node_shows_one_error(user: CommandLineUser, failure: Failure, code: str) -> None:
    user.proxy.always = failure
    check_failed(user.route("--json"), code)


@pytest.mark.parametrize(
    ("untroubled", "failure", "code"),
    few_rows([(0, *LASTING[4][1:]), (4, *LASTING[2][1:]), (6, *LASTING[0][1:])], 2),
)
def test_a_failed_sync_shows_one_error_and_resumes(
    user: CommandLineUser, untroubled: int, failure: Failure, code: str
) -> None:
    store = user.new_store()
    user.proxy.failures = [failures.passes_on] * untroubled
    user.proxy.always = failure
    check_failed(user.sync("--json", *store), code)
    user.proxy.always = None
    ran = user.sync("--json", *store)
    assert ran.exit_code == 0, ran.stderr
    whole = json.loads(user.sync("--json", *user.new_store()).stdout)
    assert json.loads(ran.stdout)["pools"] == whole["pools"] > 0


@pytest.mark.parametrize("command", ["route", "sync"])
def test_text_output_shows_one_error_and_a_hint(user: CommandLineUser, command: str) -> None:
    user.proxy.always = failures.moves_to(1)
    ran = user.route() if command == "route" else user.sync()
    assert (ran.exit_code, ran.stdout) == (UPSTREAM_STATUS, "")
    check_secrets_hidden(ran.stderr)
    assert len(ran.stderr.strip().splitlines()) == 2


def test_live_quotes_and_syncs_survive_what_passes(user: CommandLineUser) -> None:
    expected = json.loads(user.route("--json").stdout)
    for seed in range(SEEDS):
        rng = Random(seed)
        user.proxy.failures = [failures.passes_on] * rng.randint(0, 2) + [rng.choice(PASSING).build(rng)]
        ran = user.route("--json")
        assert ran.exit_code == 0, ran.stderr
        assert json.loads(ran.stdout)["outputAmount"] == expected["outputAmount"]
        check_secrets_hidden(ran.stderr)
        user.proxy.failures = [failures.passes_on] * rng.randint(0, 6) + [rng.choice(PASSING).build(rng)]
        ran = user.sync("--json", *user.new_store())
        assert ran.exit_code == 0, ran.stderr
        check_secrets_hidden(ran.stderr)


def test_a_reorg_during_a_live_quote_is_retried(user: CommandLineUser) -> None:
    user.proxy.failures = [failures.passes_on, failures.first(user.small_chain.prepare_reorg(Random(5)))]
    ran = user.route("--json")
    assert ran.exit_code == 0, ran.stderr
    assert json.loads(ran.stdout)["outputAmount"] == json.loads(user.route("--json").stdout)["outputAmount"]


def test_offline_quotes_send_no_request_to_the_node(user: CommandLineUser) -> None:
    user.proxy.always = hangs_up
    ran = user.route("--json", "--offline")
    assert ran.exit_code == 0, ran.stderr


@pytest.mark.slow
def test_a_watch_continues_through_failures_and_reorgs(user: CommandLineUser) -> None:
    with watching(user) as lines:
        assert next(lines)["pools"] > 0
        for failure, times in ((failures.passes_on, 0), (hangs_up, 2), (failures.moves_to(1), 1)):
            user.proxy.failures = [failure] * times
            user.small_chain.run_random_activity(Random(user.small_chain.head()))
            assert {line.get("rewoundTo") for line in lines_to_head(user, lines)} == {None}
        kept = user.small_chain.head()
        turn = user.small_chain.prepare_reorg(Random(9))
        assert {line.get("rewoundTo") for line in lines_to_head(user, lines)} == {None}
        turn()
        user.chain.node.ask("anvil_mine", "0x40")
        # The watch may also look between the blocks of the new chain, and rewinds for the first that is long enough.
        rewound = [line.get("rewoundTo") for line in lines_to_head(user, lines)]
        assert rewound == [kept] + [None] * (len(rewound) - 1)


def lines_to_head(user: CommandLineUser, lines: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the lines of a watch until it has reached the latest block: it reports several blocks in one line, or not,
    depending on when it looks."""
    read = [next(lines)]
    while read[-1]["block"] < user.small_chain.head():
        read.append(next(lines))
    return read


def settings_with(user: CommandLineUser, **more: object) -> dict[str, str]:
    """Return the environment of a user with more network settings and the same stores."""
    document = json.loads(Path(user.env["SWAPCLI_CONFIG"]).read_text())
    document["networks"][user.name] |= more
    file = user.folder / "other.yaml"
    file.write_text(json.dumps(document))
    return {"SWAPCLI_CONFIG": str(file)}


def test_a_node_that_answers_calls_with_nothing_changes_nothing(user: CommandLineUser) -> None:
    before = json.loads(user.sync("--json").stdout)["pools"]
    user.chain.node.ask("evm_mine")
    user.proxy.always = failures.empties_calls(Random(1))
    check_failed(user.sync("--json"), "UPSTREAM_NONSENSE")
    check_failed(user.sync("--json", "--accept-losses"), "UPSTREAM_NONSENSE")
    check_failed(user.route("--json"), "UPSTREAM_NONSENSE")
    user.proxy.always = None
    assert json.loads(user.sync("--json").stdout)["pools"] == before


def test_a_quote_says_whether_its_block_is_proven(user: CommandLineUser) -> None:
    answer = json.loads(user.route("--json").stdout)
    assert (answer["state"]["pinned"], answer["state"]["proposed"]) == (True, False)
    user.sync()
    answer = json.loads(user.route("--json", "--offline").stdout)
    assert answer["state"]["pinned"] is True
    env = settings_with(user, head_is_proposed=True)
    head = run_swapcli("route", user.name, "TKN", "USDC", "2", env=env).stdout.splitlines()[0]
    assert f"on {user.name} " in head
    assert f" block {user.small_chain.head()}, " in head
    assert head.endswith(", proposed, not yet final")
    ran = run_swapcli("route", user.name, "TKN", "USDC", "2", "--verbose", env=env)
    assert f"block {user.small_chain.head()} (proposed, not yet final)" in " ".join(ran.stdout.split())
    user.proxy.always = failures.ignores_block_numbers(lambda: user.chain.node.ask("evm_mine"))
    state = json.loads(user.route("--json").stdout)["state"]  # all of it came with its block, in one exchange
    assert (state["pinned"], state["block"] <= user.small_chain.head()) == (True, True)
    check_failed(user.route("--json", "--block", str(user.small_chain.head())), "BLOCK_MISMATCH")
    ran = user.sync("--json")
    assert ran.exit_code == 0, ran.stderr
    assert json.loads(user.route("--json", "--offline").stdout)["state"]["pinned"] is False
    assert user.route("--offline").stdout.splitlines()[0].endswith(", not proven by the node")


def test_a_spare_node_takes_over_with_one_warning(user: CommandLineUser) -> None:
    expected = json.loads(user.route("--json").stdout)
    direct = f"http://127.0.0.1:{user.chain.node.port}"
    env = settings_with(user, rpc_urls=[direct], rpc_headers={"X-Key": f"Bearer {SECRET}"})
    user.proxy.always = says(401, REPEATED.encode())
    ran = run_swapcli("route", user.name, "TKN", "USDC", "2", "--json", env=env)
    assert ran.exit_code == 0, ran.stderr
    answer = json.loads(ran.stdout)
    assert answer["outputAmount"] == expected["outputAmount"]
    assert answer["state"]["source"].startswith(f"http://127.0.0.1:{user.chain.node.port}: ")
    shown = f"http://127.0.0.1:{user.proxy.server_port}/…"
    words = "unknown key … at and /v2/…?key=…"
    note, warning = ran.stderr.splitlines()
    assert note == f"note: {shown} responded with status 401: {words}; using {direct} from now on"
    assert warning.endswith("days old: prices may have moved since")
    check_secrets_hidden(ran.stderr)
    assert user.proxy.headers[-1]["X-Key"] == f"Bearer {SECRET}"
    ran = run_swapcli("config", "show", "--json", env=env)
    rows = {row["key"]: row.get("value") for row in json.loads(ran.stdout)}
    assert rows[f"networks.{user.name}.rpc_headers"] == "X-Key: ********"
    check_secrets_hidden(ran.stdout)


@pytest.mark.parametrize("command", ["route", "sync"])
def test_a_spare_node_replaces_one_with_invalid_answers(user: CommandLineUser, command: str) -> None:
    direct = f"http://127.0.0.1:{user.chain.node.port}"
    env = settings_with(user, rpc_urls=[direct])
    pools = json.loads(user.sync("--json").stdout)["pools"]
    user.chain.node.ask("evm_mine")
    user.proxy.always = failures.empties_calls(Random(1))
    order = ("TKN", "USDC", "2") if command == "route" else ()
    ran = run_swapcli(command, user.name, *order, "--json", env=env)
    assert ran.exit_code == 0, ran.stderr
    assert ran.stderr.count(f"using {direct} from now on") == 1
    assert command == "route" or json.loads(ran.stdout)["pools"] == pools


def test_an_error_names_every_node_that_was_tried(user: CommandLineUser) -> None:
    direct = f"http://127.0.0.1:{user.chain.node.port}"
    urls = {"rpc_url": "http://127.0.0.1:1", "rpc_urls": [direct]}
    file = user.folder / "base.yaml"
    file.write_text(json.dumps({"networks": {"base": urls}}))  # the node is not of Base
    for words in (("route", "base", "ETH", "USDC", "2"), ("health", "base")):
        ran = run_swapcli(*words, env={"SWAPCLI_CONFIG": str(file)})
        assert "127.0.0.1:1 refuses connections" in ran.stdout + ran.stderr
        assert f"{direct} is a node of a different chain" in ran.stdout + ran.stderr


def test_a_proxy_of_the_environment_is_asked_unless_it_is_exempt(user: CommandLineUser) -> None:
    env = user.env | {"HTTP_PROXY": "http://127.0.0.1:1"}
    ran = run_swapcli("route", user.name, "TKN", "USDC", "2", "--json", env=env)
    check_failed(ran, "UNREACHABLE")
    assert "through the proxy 127.0.0.1:1" in ran.error["message"]
    ran = run_swapcli("route", user.name, "TKN", "USDC", "2", "--json", env=env | {"NO_PROXY": "127.0.0.1"})
    assert ran.exit_code == 0, ran.stderr


@contextmanager
def watching(user: CommandLineUser) -> Iterator[Iterator[dict[str, Any]]]:
    """Yield the lines of a watch of a new store, then stop it."""
    command = [*SWAPCLI_COMMAND, "sync", user.name, "--watch", "--json", *user.new_store()]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=clean_environment(user.env), stdout=pipe, stderr=pipe, text=True) as child:
        # Unblock a reader that waits for a line that never comes.
        watchdog = Timer(TIMEOUT_S, child.kill)
        watchdog.start()
        try:
            assert child.stdout
            yield map(json.loads, child.stdout)
            child.send_signal(signal.SIGINT)
            _, err = child.communicate()
            assert child.returncode == 0, err
            check_secrets_hidden(err)
            assert "Traceback" not in err
        finally:
            watchdog.cancel()
            child.kill()


def lacks_named_blocks(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
    """Answer as a node behind a balancer of which one part never catches up: it names blocks that the other lacks."""
    answers = []
    for request in requests:
        if request["method"] == "eth_getBlockByNumber" and request["params"][0] != "latest":
            answers.append({"jsonrpc": "2.0", "id": request["id"], "result": None})
        else:
            answers += proxy.answer([request])
    return answers


def without_times(document: Any) -> Any:
    """Return a document without what depends on when and how fast the command ran."""
    if isinstance(document, list):
        return [without_times(each) for each in document]
    if isinstance(document, dict):
        return {name: without_times(each) for name, each in document.items() if name not in TIMES}
    return document


@pytest.mark.parametrize("command", ["route TKN USDC 2", "price TKN", "health"])
def test_a_block_that_comes_with_its_state_needs_no_name(user: CommandLineUser, command: str) -> None:
    """All state came in the exchange that began and ended with the same latest block."""
    name, *words = command.split()
    whole = run_swapcli(name, user.name, *words, "--json", env=user.env)
    assert whole.exit_code == 0, whole.stderr
    asked: list[str] = []

    def change(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
        asked.extend(each["params"][0] for each in requests if each["method"] == "eth_getBlockByNumber")
        return lacks_named_blocks(requests, proxy)

    user.proxy.always = failures.rewrites(change)
    ran = run_swapcli(name, user.name, *words, "--json", env=user.env)
    assert ran.exit_code == 0, ran.stderr
    assert asked == ["latest", "latest"]
    assert without_times(ran.json) == without_times(whole.json)


@pytest.mark.parametrize("command", few(["sync", "depth TKN USDC", "pools"], 1))
def test_a_node_that_answers_from_old_blocks_ends_in_time(user: CommandLineUser, command: str) -> None:
    name, *words = command.split()
    user.proxy.always = failures.rewrites(lacks_named_blocks)
    started_s = monotonic()
    ran = run_swapcli(name, user.name, *words, "--json", env=user.env | {"SWAPCLI_TIMEOUT_S": "2"})
    assert monotonic() - started_s < 2.0
    assert ran.exit_code == UPSTREAM_STATUS
    assert "the chain was reorganized" in str(ran.error["message"])
