"""`swapcli route --watch` on a real chain whose prices change between two quotes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time

import pytest
from jsonschema_rs import Draft202012Validator

from swapcli.interface.json_schemas import build_document_schema
from tests.chain.failure_modes import check_secrets_hidden
from tests.chain.node.server import hangs_up
from tests.faces.cli.commands.sync.scene import Scene, started
from tests.support.command import run_swapcli
from tests.support.service_process import TIMEOUT_S

ORDER = ("route", "anvil", "TKN", "USDC", "1", "--watch")


def change_price(scene: Scene) -> None:
    """Donate to a pair, so that it pays more USDC."""
    pair = scene.small_chain.pairs[0]
    scene.small_chain.world.give("USDC", pair.address, 10**12)
    pair.send("sync")


def test_a_pipe_gets_a_json_line_for_each_block(scene: Scene) -> None:
    scene.sync()
    with started(*ORDER, env=scene.env) as process:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        assert Draft202012Validator(build_document_schema("route-watch")).is_valid(first)
        assert first["change"] | {"since": 0} == {"input": "0", "output": "0", "bps": 0.0, "since": 0}
        change_price(scene)
        lines = [json.loads(process.stdout.readline())]
        while lines[-1]["change"]["output"] == "0":
            lines.append(json.loads(process.stdout.readline()))
        blocks = [first["state"]["block"], *(line["state"]["block"] for line in lines)]
        assert blocks == sorted(set(blocks))
        last = lines[-1]
        gain = int(last["outputAmount"]) - int(first["outputAmount"])
        assert int(last["change"]["output"]) == gain > 0
        assert last["change"]["bps"] == pytest.approx(10_000 * gain / int(first["outputAmount"]), abs=1e-3)
        scene.proxy.always = hangs_up
        while "error" not in (failed := json.loads(process.stdout.readline())):
            pass
        assert Draft202012Validator(build_document_schema("route-watch")).is_valid(failed)
        scene.proxy.always = None
        change_price(scene)
        while "error" in (recovered := json.loads(process.stdout.readline())):
            assert recovered["lastQuoteAgeS"] > failed["lastQuoteAgeS"] > 0
        while recovered["outputAmount"] == last["outputAmount"]:  # quoted before the price changed
            recovered = json.loads(process.stdout.readline())
        assert int(recovered["outputAmount"]) > int(last["outputAmount"])
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0
    check_secrets_hidden(json.dumps(failed) + err)


@pytest.mark.slow
@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_a_terminal_shows_quotes_in_place_until_ctrl_c(scene: Scene, term: str) -> None:
    scene.sync()
    ours, theirs = os.openpty()
    env = {**scene.env, "TERM": term, "COLUMNS": "80"}
    with started(*ORDER, env=env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True) as process:
        os.close(theirs)
        shown = read_until(ours, "Ctrl-C", process)
        change_price(scene)
        shown += read_until(ours, "bps", process)
        scene.proxy.always = hangs_up
        shown += read_until(ours, "Failed", process)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=TIMEOUT_S) == 0
        os.close(ours)
    assert ("\x1b[J" in shown) == (term == "xterm")
    assert shown.count("Ctrl-C exits") >= 3


def read_until(terminal: int, text: str, process: subprocess.Popen[str]) -> str:
    """Return what a process writes to a terminal until `text`."""
    shown, end_s = "", time.monotonic() + TIMEOUT_S
    while text not in shown:
        assert process.poll() is None, shown
        assert time.monotonic() < end_s, shown
        shown += os.read(terminal, 65_536).decode()
    return shown


@pytest.mark.slow
def test_a_watch_whose_first_quote_fails_is_an_error(scene: Scene) -> None:
    scene.sync()
    ran = run_swapcli("route", "anvil", "TKN", "NOSUCH", "1", "--watch", env=scene.env)
    assert ran.exit_code == 2
    scene.proxy.always = hangs_up
    ran = run_swapcli(*ORDER, env=scene.env)
    assert (ran.exit_code, ran.stdout) == (5, "")
    assert ran.stderr.startswith("error: ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("1", "--watch"), "the embedded market of base never changes"),
        (("1", "--watch", "5"), "the embedded market of base never changes"),
        (("1", "--watch", "0"), "--watch takes a number of seconds from 0.1 to 3,600"),
        (("50%", "--watch"), "--watch needs a fixed amount"),
        (("1", "--watch", "-o", "x.svg"), "--output: this command does not print svg"),
        (("--watch", "5"), "TOKEN_IN, TOKEN_OUT and AMOUNT are required"),
    ],
)
def test_bad_input_is_one_sentence(words: tuple[str, ...], message: str) -> None:
    ran = run_swapcli("route", "base", "ETH", "USDC", *words)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"error: {message}")


def test_an_alert_of_a_watch_is_run_once_a_crossing(scene: Scene) -> None:
    scene.small_chain.chain.node.ask("evm_setNextBlockTimestamp", hex(int(time.time())))
    change_price(scene)
    scene.sync()
    told = scene.folder / "told"
    run = f"sh -c 'cat >> {told}; echo $ALERT_VALUE is told'"
    first = json.loads(run_swapcli("route", "anvil", "TKN", "USDC", "1", "--json", env=scene.env).stdout)
    words = ("--when", f"outputAmount > {first['outputAmount']}", "--run", run)
    with started(*ORDER, *words, env=scene.env) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert json.loads(process.stdout.readline())["outputAmount"] == first["outputAmount"]
        for _ in range(2):
            change_price(scene)
        line = process.stderr.readline()
        assert line.endswith(" is told\n")
        while int((quote := json.loads(process.stdout.readline()))["outputAmount"]) <= int(line.split()[0]):
            change_price(scene)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, err) == (0, "")
    assert json.loads(told.read_text())["outputAmount"] == line.split()[0]
    assert int(quote["outputAmount"]) > int(first["outputAmount"])
