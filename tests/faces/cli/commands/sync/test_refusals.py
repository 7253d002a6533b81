"""`swapcli sync` refuses impossible requests; a failed sync leaves one whole block, or no store."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from random import Random

import pytest

from swapcli.state.store import open_store
from tests.chain import proxy as failures
from tests.chain.failure_modes import check_secrets_hidden
from tests.chain.node.server import SECRET, Failure, hangs_up
from tests.chain.settings import write_settings
from tests.examples import few
from tests.faces.cli.commands.sync.scene import Scene
from tests.support.command import run_swapcli
from tests.support.service_process import TIMEOUT_S
from tests.support.testnet import build_market_document, raise_unknown_network
from tests.support.waiting import until


def test_a_network_without_a_node_is_refused(tmp_path: Path, scene: Scene) -> None:
    settings = write_settings(tmp_path, scene.network, None)
    ran = run_swapcli("sync", "anvil", "--json", env={"SWAPCLI_CONFIG": str(settings)})
    assert (ran.exit_code, ran.error["code"]) == (2, "INVALID_OPTION")
    assert ran.error["hint"] == "give --rpc-url URL, or set SWAPCLI_NETWORKS_ANVIL_RPC_URL"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("bse",), "UNKNOWN_NETWORK"),
        (("starknet", "--tokens", "ETH,0x0"), "INVALID_ADDRESS"),
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
        (("base", "--rpc-url", f"//127.0.0.1:9/{SECRET}"), "CONFIG_ERROR"),
        (("base", "--offline"), "USAGE"),
        (("base", "extra"), "USAGE"),
        ((), "INVALID_OPTION"),
    ],
)
def test_invalid_options_are_refused_before_any_request(arguments: tuple[str, ...], code: str, tmp_path: Path) -> None:
    ran = run_swapcli("sync", *arguments, "--store", str(tmp_path / "stores"), "--json")
    assert (ran.exit_code, ran.stdout, ran.error["code"]) == (2, "", code)
    check_secrets_hidden(ran.stderr)
    assert not list(tmp_path.iterdir())


def test_a_future_first_block_is_refused(scene: Scene) -> None:
    ran = scene.sync("--from-block", "999999999", "--json")
    assert (ran.exit_code, ran.error["code"], scene.file.exists()) == (2, "INVALID_OPTION", False)
    assert "does not exist yet; the latest block is" in ran.error["message"]
    assert scene.sync("--from-block", "1").exit_code == 0


def test_unusable_folders_and_stores_are_errors(scene: Scene) -> None:
    file = scene.folder / "file"
    file.write_text("")
    no_folder = scene.sync("--store", str(file / "below"), "--json")
    assert (no_folder.exit_code, "cannot create the folder" in no_folder.error["message"]) == (2, True)
    scene.file.parent.mkdir()
    scene.file.write_bytes(b"something else" * 100)
    foreign = scene.sync("--json")
    assert (foreign.exit_code, foreign.error["code"]) == (2, "MARKET_ERROR")
    assert scene.file.read_bytes() == b"something else" * 100


@pytest.mark.parametrize("name", ["testnet", "anvil"])
def test_a_store_of_another_network_is_not_changed(scene: Scene, name: str) -> None:
    document = build_market_document()
    document["network"]["name"] = name
    stores = ("--store", str(scene.file.parent))
    # Without the settings, which know a network of that name.
    assert run_swapcli("market", "import", "-", *stores, stdin=json.dumps(document).encode()).exit_code == 0
    (scene.file.parent / f"{name}.sqlite").rename(scene.file)
    ran = scene.sync("--json")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.error["message"].endswith(
        'is for "testnet", not for "anvil"' if name == "testnet" else "has a synthetic market, which cannot be synced"
    )
    with open_store(str(scene.file), raise_unknown_network) as store:
        assert len(store.read_market().pools) == 5


FAILING: list[tuple[str, Failure, str]] = [
    ("hangs up", hangs_up, "UNREACHABLE"),
    ("another chain", failures.moves_to(1), "UPSTREAM_NONSENSE"),
    ("refuses", failures.refuses_some(Random(1), 1.0, -32_000, f"no {SECRET}"), "UPSTREAM_REFUSED"),
]


@pytest.mark.parametrize(("failure", "code"), [each[1:] for each in FAILING], ids=[each[0] for each in FAILING])
def test_a_failing_node_is_one_sentence_and_creates_no_store(scene: Scene, failure: Failure, code: str) -> None:
    scene.proxy.always = failure
    ran = scene.sync("--json")
    assert (ran.exit_code, ran.stdout, ran.error["code"]) == (5, "", code)
    check_secrets_hidden(ran.stderr)
    assert not scene.file.exists()


def test_a_node_of_another_chain_is_reported(scene: Scene) -> None:
    scene.proxy.always = failures.moves_to(8453)
    assert "is a node of chain 8453, not of chain 31337" in scene.sync().stderr


@pytest.mark.parametrize("after", few([5, 1, 3, 7, 9, 11], 1))
def test_a_failing_node_leaves_a_whole_block_to_continue_from(scene: Scene, after: int) -> None:
    scene.proxy.failures = [failures.passes_on] * after
    scene.proxy.always = hangs_up
    ran = scene.sync()
    assert (ran.exit_code, ran.stdout) == (5, "") or ran.exit_code == 0
    check_secrets_hidden(ran.stderr)
    if ran.exit_code:
        kinds = [line.partition(":")[0] for line in ran.stderr.splitlines()]
        assert kinds in (["error", "hint"], ["note", "error", "hint"])
        assert ("; run the same command again to continue\n" in ran.stderr) == ("note" in kinds)
    scene.proxy.failures, scene.proxy.always = [], None
    assert scene.sync().exit_code == 0
    scene.check_fresh()


@pytest.mark.parametrize("number", few([signal.SIGINT, signal.SIGTERM], 1))
@pytest.mark.parametrize("form", ["--format=plain", "--json"])
def test_an_interrupted_sync_reports_progress_and_continues(scene: Scene, number: signal.Signals, form: str) -> None:
    scene.sync("--protocols", "uniswapV2")
    # From its fifth exchange on, the node is slow.
    scene.proxy.failures = [failures.passes_on] * 4
    scene.proxy.always = failures.late(1.5)
    count = len(scene.proxy.methods)
    with scene.running(form) as process:
        until(lambda: not scene.proxy.failures and len(scene.proxy.methods) > count)
        process.send_signal(number)
        out, err = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, out) == (130, "")
    stored_market = "pools of"
    if form == "--json":
        reported = json.loads(err)
        assert (reported["code"], reported["exitCode"]) == ("INTERRUPTED", 130)
        assert stored_market in reported["message"]
    else:
        assert err.startswith("error: interrupted; ")
        assert stored_market in err
        assert err.endswith("hint:  run the same command again to continue\n")
    scene.proxy.failures, scene.proxy.always = [], None
    assert scene.sync().exit_code == 0
    scene.check_fresh()
