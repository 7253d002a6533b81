"""`swapcli sync`: a store is filled from a node and follows it, in processes of their own on real chains."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from threading import Timer
from typing import Any

import pytest

from swapcli.chain.node import Block
from swapcli.cli.options import FormOptions
from swapcli.cli.render.sync_view import Synced, advance_document, advance_words, synced_document, synced_sheet
from swapcli.cli.session import open_session
from swapcli.engine.sync import Advance, Omission
from swapcli.networks.catalogue import network
from swapcli.store import open_store
from tests.chain import proxy as faults
from tests.chain.anvil import running_anvil
from tests.chain.living import Village
from tests.chain.modes import check_shown
from tests.chain.node.server import SECRET, Fault, hangs_up
from tests.chain.proxy import Proxy, proxying
from tests.chain.settings import url_of, write_settings
from tests.cli.build import NOW_S, Ran, market_document, no_network, swapcli
from tests.cli.running import PATIENCE_S, PROCESS, nobodys
from tests.store.build import is_sound, only

FACTS = ("tokens", "pools", "protocols", "gasPrice", "network")


class Scene:
    """A village on a chain, and somebody whose settings name a proxy before its node."""

    def __init__(self, village: Village, proxy: Proxy, folder: Path) -> None:
        self.village, self.proxy, self.folder = village, proxy, folder
        self.network = replace(village.network, block_time_s=1.0)
        self.settings = write_settings(folder, self.network, proxy.url, timeout_s=2.0)
        self.file = folder / "stores" / "anvil.sqlite"

    @property
    def env(self) -> dict[str, str]:
        return {"SWAPCLI_CONFIG": str(self.settings)}

    def sync(self, *arguments: str, **more: Any) -> Ran:
        """`swapcli sync anvil ...` in this process."""
        return swapcli("sync", "anvil", *arguments, env=self.env, **more)

    def held(self, folder: Path | None = None) -> dict[str, Any]:
        """The market of the store, as a file."""
        where = ("--store", str(folder)) if folder else ()
        return dict(swapcli("market", "export", "anvil", *where, env=self.env).json)

    def fresh(self) -> dict[str, Any]:
        """What a sync into a new store gives now."""
        folder = self.folder / f"fresh-{len(list(self.folder.iterdir()))}"
        assert self.sync("--store", str(folder)).status == 0
        return self.held(folder)

    def check_fresh(self) -> None:
        """The store is sound, and holds what a new one would."""
        held, fresh = self.held(), self.fresh()
        assert is_sound(self.file)
        assert (held["block"], by_address(held)) == (fresh["block"], by_address(fresh))

    @contextmanager
    def running(self, *arguments: str, **more: Any) -> Iterator[subprocess.Popen[str]]:
        """`swapcli sync anvil ...` in a process of its own, ended whatever happens."""
        with started("sync", "anvil", *arguments, env=self.env, **more) as process:
            yield process


@contextmanager
def started(*arguments: str, env: Mapping[str, str], **more: Any) -> Iterator[subprocess.Popen[str]]:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
    process = subprocess.Popen([*PROCESS, *arguments], text=True, env=nobodys(env), **pipes)
    # Who waits for a line that does not come waits for this.
    patience = Timer(2 * PATIENCE_S, process.kill)
    patience.start()
    try:
        yield process
    finally:
        patience.cancel()
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=PATIENCE_S)


def by_address(market: dict[str, Any]) -> dict[str, Any]:
    return {pool.get("pool_id") or pool["address"]: pool for pool in market["pools"]}


@pytest.fixture(scope="module")
def village() -> Iterator[tuple[Village, Proxy]]:
    with running_anvil() as chain, proxying(chain.node.port) as proxy:
        yield Village(chain), proxy


@pytest.fixture
def scene(village: tuple[Village, Proxy], tmp_path: Path) -> Iterator[Scene]:
    made = Scene(*village, tmp_path)
    yield made
    made.proxy.faults, made.proxy.always = [], None


def test_a_store_is_made_with_its_folder_and_holds_what_is_told(scene: Scene) -> None:
    ran = scene.sync("--json")
    told = ran.json
    assert (ran.status, ran.err) == (0, "")
    assert told["store"] == str(scene.file)
    assert (told["pools"], told["newPools"]) == (len(scene.held()["pools"]),) * 2
    assert told["market"]["provenance"] == "synced"
    assert {each["amm_name"] for each in told["protocols"]} == {"uniswapV2", "uniswapV3", "uniswapV4"}
    assert sum(each["pools"] for each in told["protocols"]) == told["pools"] >= 5
    assert told["seconds"] > 0
    assert told["poolsPerSecond"] == pytest.approx(told["pools"] / told["seconds"], rel=0.2)
    info = swapcli("market", "info", "anvil", "--json", env=scene.env).json
    assert {name: told[name] for name in FACTS} == {name: info[name] for name in FACTS}
    scene.check_fresh()


def test_what_is_left_out_is_told_with_its_reason(scene: Scene) -> None:
    (unknown,) = scene.sync("--json").json["leftOut"]
    assert unknown["reason"] == "the catalogue knows no contract that its pools come from"
    assert (unknown["count"] > 3, len(unknown["examples"])) == (True, 3)
    thin = scene.sync("--min-liquidity", "1000000000", "--json").json
    assert thin["pools"] == 0
    assert sum(each["count"] for each in thin["leftOut"]) > unknown["count"]


def test_the_forms_tell_the_same(scene: Scene) -> None:
    told = scene.sync("--json").json
    for form in ("--plain", "--table"):
        ran = scene.sync(form)
        assert (ran.status, ran.err) == (0, "")
        for fact in (told["market"]["block"], told["store"], told["leftOut"][0]["reason"], "uniswapV3", "synced"):
            assert str(fact) in ran.out
        check_shown(ran.out)


def test_what_is_wanted_is_said_by_tokens_and_protocols(scene: Scene) -> None:
    tokens = {token.symbol: token.address for token in scene.network.tokens}
    ran = scene.sync("--tokens", f"usdc,{tokens['TKN']}", "--protocols", "1,UniswapV3", "--json")
    assert ran.json["pools"] == 2
    for pool in scene.held()["pools"]:
        assert set(pool["tokens"]) == {tokens["USDC"], tokens["TKN"]}
        assert pool["protocol"] in ("uniswapV2", "uniswapV3")
    assert scene.sync("--json").json["newPools"] == len(scene.fresh()["pools"]) - 2


def test_the_native_token_stands_for_its_wrapped_form(scene: Scene) -> None:
    for native in ("ETH", "weth", "0x" + "00" * 20, "0x" + "Ee" * 20):
        assert scene.sync("--tokens", f"{native},USDC", "--json").status == 0
    twice = scene.sync("--tokens", "ETH,WETH", "--json")
    assert (twice.status, twice.error["code"]) == (2, "INVALID_OPTION")


def test_a_second_sync_goes_on_from_the_first(scene: Scene) -> None:
    first = scene.sync("--json").json
    again = scene.sync("--json").json
    assert (again["newPools"], again["pools"], again["market"]["block"]) == (
        0, first["pools"], first["market"]["block"]
    )  # fmt: skip
    scene.village.happen(Random(1), most=6)
    later = scene.sync("--json").json
    assert later["market"]["block"] > first["market"]["block"]
    scene.check_fresh()


def test_quotes_rest_on_the_store(scene: Scene) -> None:
    scene.sync()
    quoted = swapcli("route", "anvil", "USDC", "TKN", "10", "--offline", "--json", env=scene.env).json
    assert quoted["market"]["provenance"] == "synced"
    assert quoted["market"]["block"] == scene.held()["block"]
    assert int(quoted["outputAmount"]) > 0


def test_a_node_on_the_command_line_goes_before_the_settings(scene: Scene) -> None:
    scene.proxy.always = hangs_up
    url = url_of(scene.village.chain)
    told = scene.sync("--rpc-url", url, "--json").json
    assert told["market"]["source"] == url


def test_without_a_node_a_public_one_is_asked_and_named() -> None:
    session = open_session(FormOptions(json=True, config="/dev/null"))
    node = session.any_node(network("base"))
    assert network("base").rpc_urls[0].startswith(node.shown)
    assert session.output.held == [
        f"no node of base is set, so a public one is asked, which may allow little: {node.shown}"
    ]


def test_a_network_may_have_no_node_at_all(tmp_path: Path, scene: Scene) -> None:
    settings = write_settings(tmp_path, scene.network, None)
    ran = swapcli("sync", "anvil", "--json", env={"SWAPCLI_CONFIG": str(settings)})
    assert (ran.status, ran.error["code"]) == (2, "INVALID_OPTION")
    assert "networks.anvil.rpc_url" in ran.error["hint"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("bse",), "UNKNOWN_NETWORK"),
        (("starknet",), "INVALID_OPTION"),
        (("starknet", "--rpc-url", "http://127.0.0.1:9"), "INVALID_OPTION"),
        (("base", "--tokens", "ETH,NOPE"), "UNKNOWN_TOKEN"),
        (("base", "--tokens", "ETH,0x12"), "INVALID_ADDRESS"),
        (("base", "--tokens", "USDC"), "INVALID_OPTION"),
        (("base", "--tokens", "USDC,usdc"), "INVALID_OPTION"),
        (("base", "--tokens", ""), "INVALID_OPTION"),
        (("base", "--protocols", "uniswapV9"), "UNKNOWN_PROTOCOL"),
        (("base", "--protocols", "999"), "UNKNOWN_PROTOCOL"),
        (("base", "--protocols", ","), "INVALID_OPTION"),
        (("base", "--protocols", "wrapper"), "INVALID_OPTION"),
        *(
            (("base", "--min-liquidity", each), "INVALID_OPTION")
            for each in ("-1", "nan", "1e9", "many", "9" * 16, "١")
        ),
        *((("base", "--from-block", each), "INVALID_OPTION") for each in ("-1", "1.5", "latest", "0x10", "9" * 20)),
        (("base", "--timeout", "0"), "CONFIG_ERROR"),
        (("base", "--rpc-url", f"ftp://{SECRET}"), "CONFIG_ERROR"),
        (("base", "--rpc-url", f"ws://127.0.0.1:9/{SECRET}"), "CONFIG_ERROR"),
        (("base", "--offline"), "USAGE"),
        (("base", "extra"), "USAGE"),
        ((), "INVALID_OPTION"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_asked(
    arguments: tuple[str, ...], code: str, tmp_path: Path
) -> None:
    ran = swapcli("sync", *arguments, "--store", str(tmp_path / "stores"), "--json")
    assert (ran.status, ran.out, ran.error["code"]) == (2, "", code)
    check_shown(ran.err)
    assert not list(tmp_path.iterdir())


def test_a_block_that_lies_ahead_is_refused(scene: Scene) -> None:
    ran = scene.sync("--from-block", "999999999", "--json")
    assert (ran.status, ran.error["code"], scene.file.exists()) == (2, "INVALID_OPTION", False)
    assert "lies ahead, the newest is" in ran.error["message"]
    assert scene.sync("--from-block", "1").status == 0


def test_a_folder_that_cannot_be_made_and_stores_that_cannot_be_used_are_told(scene: Scene) -> None:
    file = scene.folder / "file"
    file.write_text("")
    no_folder = scene.sync("--store", str(file / "below"), "--json")
    assert (no_folder.status, "cannot make the folder" in no_folder.error["message"]) == (2, True)
    scene.file.parent.mkdir()
    scene.file.write_bytes(b"something else" * 100)
    foreign = scene.sync("--json")
    assert (foreign.status, foreign.error["code"]) == (2, "MARKET_ERROR")
    assert scene.file.read_bytes() == b"something else" * 100


@pytest.mark.parametrize("name", ["testnet", "anvil"])
def test_a_store_of_another_network_or_of_no_chain_is_left_as_it_is(scene: Scene, name: str) -> None:
    document = market_document()
    document["network"]["name"] = name
    stores = ("--store", str(scene.file.parent))
    # Without the settings, which know a network of that name.
    assert swapcli("market", "import", "-", *stores, stdin=json.dumps(document).encode()).status == 0
    (scene.file.parent / f"{name}.sqlite").rename(scene.file)
    ran = scene.sync("--json")
    assert (ran.status, ran.out) == (2, "")
    assert ran.error["message"].endswith(
        'is of "testnet", not of "anvil"'
        if name == "testnet"
        else "holds a synthetic market, which no block can follow"
    )
    with open_store(str(scene.file), no_network) as store:
        assert len(store.read_market().pools) == 5


FAILING: list[tuple[str, Fault, str]] = [
    ("hangs up", hangs_up, "UNREACHABLE"),
    ("another chain", faults.moves_to(1), "UPSTREAM_NONSENSE"),
    ("refuses", faults.refuses_some(Random(1), 1.0, -32_000, f"no {SECRET}"), "UPSTREAM_REFUSED"),
]


@pytest.mark.parametrize(("fault", "code"), [each[1:] for each in FAILING], ids=[each[0] for each in FAILING])
def test_a_node_that_fails_is_one_sentence_and_makes_no_store(scene: Scene, fault: Fault, code: str) -> None:
    scene.proxy.always = fault
    ran = scene.sync("--json")
    assert (ran.status, ran.out, ran.error["code"]) == (5, "", code)
    check_shown(ran.err)
    assert not scene.file.exists()


def test_another_chain_is_named(scene: Scene) -> None:
    scene.proxy.always = faults.moves_to(8453)
    assert "is a node of chain 8453, not of chain 31337" in scene.sync().err


@pytest.mark.parametrize("after", range(1, 12, 2))
def test_a_node_that_begins_to_fail_leaves_a_whole_block_and_the_next_run_goes_on(scene: Scene, after: int) -> None:
    scene.proxy.faults = [faults.passes_on] * after
    scene.proxy.always = hangs_up
    ran = scene.sync()
    assert (ran.status, ran.out) == (5, "") or ran.status == 0
    check_shown(ran.err)
    if ran.status:
        kinds = [line.partition(":")[0] for line in ran.err.splitlines()]
        assert kinds in (["error", "hint"], ["note", "error", "hint"])
        assert ("; the same command goes on from there\n" in ran.err) == ("note" in kinds)
    scene.proxy.faults, scene.proxy.always = [], None
    assert scene.sync().status == 0
    scene.check_fresh()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("form", ["--plain", "--json"])
def test_an_interrupted_sync_says_how_far_it_got_and_goes_on(scene: Scene, number: signal.Signals, form: str) -> None:
    scene.sync("--protocols", "uniswapV2")
    # From its fifth exchange on the node takes its time.
    scene.proxy.faults = [faults.passes_on] * 4
    scene.proxy.always = faults.late(1.5)
    count = len(scene.proxy.asked)
    with scene.running(form) as process:
        wait_for(lambda: not scene.proxy.faults and len(scene.proxy.asked) > count)
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out) == (130, "")
    kept = "pools of"
    if form == "--json":
        told = json.loads(err)
        assert (told["code"], told["exit_code"]) == ("INTERRUPTED", 130)
        assert kept in told["message"]
    else:
        assert err.startswith("error: interrupted; ")
        assert kept in err
        assert err.endswith("hint:  the same command goes on from there\n")
    scene.proxy.faults, scene.proxy.always = [], None
    assert scene.sync().status == 0
    scene.check_fresh()


def wait_for(happened: Any) -> None:
    """Until something is so. Fails when that takes too long."""
    until_s = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < until_s, "it did not happen"
        time.sleep(0.01)


def test_a_watch_tells_each_step_as_a_line_of_json_until_it_is_told_to_stop(scene: Scene) -> None:
    with scene.running("--watch", "--json") as process:
        assert process.stdout is not None
        synced = json.loads(process.stdout.readline())
        assert synced["market"]["provenance"] == "synced"
        blocks = [synced["market"]["block"]]
        for seed in range(3):
            scene.village.happen(Random(seed))
            blocks.append(json.loads(process.stdout.readline())["block"])
        wait_for(lambda: scene.held()["block"] == int(scene.village.chain.node.ask("eth_blockNumber"), 16))
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, err) == (0, "")
    rest = [json.loads(line)["block"] for line in out.splitlines()]
    assert blocks + rest == sorted(set(blocks + rest))
    assert (blocks + rest)[-1] == scene.held()["block"]
    scene.check_fresh()


def test_a_watch_tells_people_on_stderr_and_survives_what_passes(scene: Scene) -> None:
    with scene.running("--watch", "--plain") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "anvil, synced\n"
        scene.proxy.always = hangs_up
        failed = process.stderr.readline()
        scene.proxy.always = None
        scene.village.happen(Random(5))
        told = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_S)
    assert failed.startswith("note: no connection to http://127.0.0.1:")
    assert failed.endswith("trying again in 2 s, 1 of 30 failures in a row\n")
    check_shown(failed + told + out + err)
    while told.startswith("note: "):
        told, _, err = err.partition("\n")
    assert told.startswith("block ")
    assert process.returncode == 0
    assert scene.sync().status == 0
    scene.check_fresh()


def test_a_watch_goes_back_where_the_chain_took_another_way(scene: Scene) -> None:
    with scene.running("--watch", "--json") as process:
        assert process.stdout is not None
        synced = json.loads(process.stdout.readline())["market"]["block"]
        turn = scene.village.turning(Random(7))
        steps = [json.loads(process.stdout.readline())]
        turn()
        # A chain that is shorter than the one before is not believed yet.
        scene.village.chain.node.ask("anvil_mine", hex(60))
        while steps[-1]["rewoundTo"] is None:
            steps.append(json.loads(process.stdout.readline()))
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_S)
    assert steps[-1]["rewoundTo"] == synced
    assert process.returncode == 0
    assert scene.sync().status == 0
    scene.check_fresh()


def test_nobody_has_to_read_a_watch_to_its_end(scene: Scene) -> None:
    with scene.running("--watch", "--json") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        scene.village.happen(Random(9))
        assert process.wait(timeout=PATIENCE_S) == 0
        assert process.stderr.read() == ""
        process.stdout = None


@pytest.mark.parametrize("color", ["never", "always"])
def test_on_a_terminal_bars_are_drawn_on_stderr_alone(scene: Scene, color: str) -> None:
    ours, theirs = os.openpty()
    with scene.running("--json", "--color", color, stderr=theirs) as process:
        os.close(theirs)
        assert process.stdout is not None
        out, drawn = process.stdout.read(), b""
        try:
            while read := os.read(ours, 65_536):
                drawn += read
        except OSError:  # nobody holds the terminal any more
            pass
        finally:
            os.close(ours)
        assert process.wait(timeout=PATIENCE_S) == 0
    told = json.loads(out)
    text = drawn.decode()
    assert "creation events" in text
    assert f"{told['pools']:,} pools of {told['tokens']:,} tokens, block {told['market']['block']}" in text
    assert ("\x1b[3" in text) == (color == "always")
    check_shown(text)


OMISSIONS = (Omission("no \x1b[31mreason", 1_200, ("0xa\x1b", "0xb")), Omission("thin", 1, ("0xc",)))
BLOCK = Block(123, "0x" + "ab" * 32, "0x" + "cd" * 32, int(NOW_S) - 90, 7)


def synced(scene: Scene) -> Synced:
    scene.sync()
    with open_store(str(scene.file), only(scene.network)) as store:
        return Synced(store.summary(), 3, OMISSIONS, 1.5)


def test_a_sync_in_words_cannot_steer_the_terminal(scene: Scene) -> None:
    held = synced(scene)
    document, sheet = synced_document(held, NOW_S), synced_sheet(held, NOW_S)
    assert document["poolsPerSecond"] == 2.0
    assert document["leftOut"] == [
        {"reason": OMISSIONS[0].reason, "count": 1_200, "examples": ["0xa\x1b", "0xb"]},
        {"reason": "thin", "count": 1, "examples": ["0xc"]},
    ]
    assert sheet.listings[-1].rows == (("no ?[31mreason", "1,200", "0xa?"), ("thin", "1", "0xc"))
    assert json.loads(json.dumps(document)) == document
    assert synced_document(replace(held, seconds=0.0), NOW_S)["poolsPerSecond"] == 0.0


@pytest.mark.parametrize(
    ("advance", "words"),
    [
        (Advance(BLOCK), "block 123: 0 pools read anew"),
        (Advance(BLOCK, ("a",), ("b", "c")), "block 123: 1 pool read anew, 2 pools new"),
        (
            Advance(BLOCK, ("a", "b"), (), ("c",), ("d",), 120),
            "block 123: rewound to 120, 2 pools read anew, 1 pool gone, "
            "1 pool had changed without an event and was corrected",
        ),
        (
            Advance(BLOCK, drifted=("a", "b")),
            "block 123: 0 pools read anew, 2 pools had changed without an event and were corrected",
        ),
    ],
)
def test_a_step_in_words_and_as_a_document(advance: Advance, words: str) -> None:
    assert advance_words(advance) == words
    document = advance_document("anvil", advance)
    assert document == {
        "network": "anvil",
        "block": 123,
        "hash": BLOCK.hash,
        "timestamp": BLOCK.timestamp,
        "rewoundTo": advance.rewound_to,
        "touched": list(advance.touched),
        "added": list(advance.added),
        "removed": list(advance.removed),
        "drifted": list(advance.drifted),
    }
