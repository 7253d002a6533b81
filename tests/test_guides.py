"""The tutorial and the how-tos: every command runs in a shell, on a real local chain, and prints what the page shows.

Only packages are not installed again: the folder has what `pip install` and `npm install` of the pages bring.
`UPDATE_SNAPSHOTS=1` writes the printed output into the pages.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.chain.anvil import Node, anvil_binary
from tests.contracts.evm import NODE_MODULES
from tests.contracts.foundry.forge import FOLDER as FOUNDRY
from tests.examples import few
from tests.support.guide_page import Step, is_shown, read_steps

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
TUTORIAL = DOCS / "tutorial.md"
HOW_TOS = sorted(page for page in (DOCS / "how-to").glob("*.md") if page.stem != "README")
INSTALLS = re.compile(r"(npm|pip) install|python3 -m venv")
PORTS = ("8545", "8000", "8443")
"""The ports of the pages; a test uses free ones instead."""
INSPECTOR = NODE_MODULES / "@modelcontextprotocol" / "inspector-cli" / "build" / "cli.js"
MAX_LINES, MAX_AGE_S = 60, 5
TIMEOUT_S = 60
NO_NETWORK = {"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "localhost"}
"""Nothing listens there: no public node is reached."""


@dataclass
class Machine:
    """A reader's machine: a folder with the checkout and the packages, a home folder, and ports."""

    folder: Path
    ports: dict[str, str]

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def run(self, page: Path, **variables: str) -> list[tuple[Step, str]]:
        """Run the commands of a page in one shell; return each with its output. Fails if a command does.

        What a page starts in the background runs until `stop`.
        """
        steps = [step for step in read_steps(page) if not INSTALLS.search(step.text) or step.file]
        script = "".join(self._script(number, step) for number, step in enumerate(steps))
        env = {
            "PATH": f"{self.folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}:/usr/sbin",
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
            "COLUMNS": "80",
            "NO_COLOR": "1",
            "SWAPCLI_OUTPUT": "table",
            "ANVIL": self.ports["8545"],
            **NO_NETWORK,
            **variables,
        }
        for file in self.folder.glob("*.out"):
            file.unlink()
        # With job control, each command in the background is a group of processes, which `stop` ends.
        line = ["bash", "-c", f"set -m\n{script}"]
        ran = subprocess.run(
            line, cwd=self.folder, env=env, timeout=TIMEOUT_S, capture_output=True, text=True, check=False
        )
        outputs = [self._output(number) for number in range(len(steps))]
        done = sum((self.folder / f"{number}.out").exists() for number in range(len(steps)))
        assert ran.returncode == 0, f"{page.name}: {steps[done - 1].text}{outputs[done - 1]}{ran.stderr}"
        return list(zip(steps, outputs, strict=True))

    def stop(self) -> None:
        """End what runs in the background."""
        file = self.folder / "groups"
        for line in file.read_text().splitlines() if file.exists() else ():
            with suppress(ProcessLookupError):
                os.killpg(int(line), signal.SIGTERM)
        file.unlink(missing_ok=True)
        pid = self.folder / "nginx.pid"  # nginx leaves the shell's groups.
        if pid.exists():
            os.kill(int(pid.read_text()), signal.SIGTERM)

    def copy(self, folder: Path) -> Machine:
        """Return the same machine with a home and a folder that a page may change."""
        shutil.copytree(self.folder, folder, symlinks=True, ignore=shutil.ignore_patterns("groups"))
        return Machine(folder, self.ports)

    def _script(self, number: int, step: Step) -> str:
        text, out = step.text, self.folder / f"{number}.out"
        for ours, free in self.ports.items():
            text = re.sub(rf"\b{ours}\b", free, text)
        if step.file:
            folder = f"mkdir -p '{Path(step.file).parent}'"
            return f"{folder}; cat > '{step.file}' <<'END_OF_FILE'\n{text}END_OF_FILE\n: > {out}\n"
        if step.in_background:
            last = next((line for line in reversed(step.shown.splitlines()) if line != "..."), "")
            for ours, free in self.ports.items():
                last = re.sub(rf"\b{ours}\b", free, last)
            wait = f"until grep -qF -- '{last.partition('...')[0]}' {out}; do kill -0 $! || exit 1; sleep 0.05; done\n"
            return (
                f"{{ {text.rstrip()}\n}} </dev/null >{out} 2>&1 &\n"
                f"echo $! >>{self.folder / 'groups'}\n{wait if last else ''}"
            )
        expected = "!" if step.must_fail else ""
        return f"{expected} {{ {text.rstrip()}\n}} </dev/null >{out} 2>&1 || exit 1\n"

    def _output(self, number: int) -> str:
        file = self.folder / f"{number}.out"
        text = file.read_text() if file.exists() else ""
        for ours, free in self.ports.items():
            text = re.sub(rf"\b{free}\b", ours, text)
        return text


def open_machine(folder: Path) -> Machine:
    """Prepare what the pages install."""
    (folder / "home").mkdir(parents=True)
    for name in ("examples", "scripts"):
        (folder / name).symlink_to(ROOT / name)
    packages = folder / "node_modules"
    for name in ("@uniswap", "canonical-weth"):
        (packages / name).parent.mkdir(exist_ok=True)
        (packages / name).symlink_to(NODE_MODULES / name)
    (packages / ".bin").mkdir()
    (cast,) = FOUNDRY.glob("node_modules/@foundry-rs/cast-*/bin/cast")
    (packages / ".bin" / "cast").symlink_to(cast)
    (packages / ".bin" / "anvil").write_text(f'#!/bin/sh\nexec {anvil_binary()} --port "$ANVIL" "$@"\n')
    # The package that npx would download.
    (packages / ".bin" / "npx").write_text(f'#!/bin/sh\nshift 2\nexec node {INSPECTOR} "$@"\n')
    for name in ("anvil", "npx"):
        (packages / ".bin" / name).chmod(0o755)
    (folder / "bin").symlink_to(packages / ".bin")
    return Machine(folder, dict(zip(PORTS, free_ports(len(PORTS)), strict=True)))


def free_ports(count: int) -> Sequence[str]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [str(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports


def check(page: Path, outputs: Sequence[tuple[Step, str]]) -> None:
    """Compare a page with what its commands printed."""
    for step, printed in outputs:
        if step.shown and not is_shown(step, printed):
            if os.environ.get("UPDATE_SNAPSHOTS"):
                old = f"$ {step.text}{step.shown}"
                page.write_text(page.read_text().replace(old, f"$ {step.text}{as_shown(step, printed)}"))
                continue
            raise AssertionError(f"{page.name}: {step.text}shows\n{step.shown}\nbut prints\n{printed}")


def as_shown(step: Step, printed: str) -> str:
    """Return the output as the page shows it: cut by a last line `...` after as many lines as now, if it is now."""
    lines = [f"{line.rstrip()}\n" for line in printed.strip("\n").splitlines()]
    if step.shown.endswith("...\n"):
        lines = [*lines[: step.shown.count("\n") - 1], "...\n"]
    return "".join(lines)


@pytest.fixture(scope="module")
def tutorial(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Machine, list[tuple[Step, str]]]]:
    """A machine after the tutorial, on which the chain still runs, and the outputs of the tutorial."""
    machine = open_machine(tmp_path_factory.mktemp("guides") / "reader")
    try:
        yield machine, machine.run(TUTORIAL)
    finally:
        machine.stop()


def test_the_tutorial_prints_what_it_shows(tutorial: tuple[Machine, list[tuple[Step, str]]]) -> None:
    check(TUTORIAL, tutorial[1])


@pytest.mark.parametrize("page", few(HOW_TOS, 4), ids=lambda page: page.stem)
def test_a_how_to_prints_what_it_shows(
    page: Path, tutorial: tuple[Machine, list[tuple[Step, str]]], tmp_path: Path
) -> None:
    reader, outputs = tutorial
    machine, node = reader.copy(tmp_path / "reader"), Node(int(reader.ports["8545"]))
    # However long the other pages took, the latest block is new, and gas costs the same.
    node.ask("anvil_setNextBlockBaseFeePerGas", hex(10**9))
    node.ask("evm_mine")
    variables = {"TX": sent_transaction(outputs)}
    if any(step.text.startswith("swapcli serve") for step in read_steps(page)):
        # A reader may start the service long after the last block. An age of a minute would take the test a minute.
        variables["SWAPCLI_MAX_AGE_S"] = str(MAX_AGE_S)
        # Blocks that follow fast have times in the future.
        latest_s = int(node.ask("eth_getBlockByNumber", "latest", False)["timestamp"], 16)
        time.sleep(max(0.0, latest_s + MAX_AGE_S + 1 - time.time()))
    try:
        check(page, machine.run(page, **variables))
    finally:
        machine.stop()
        node.ask("evm_setAutomine", True)
        node.close()


def sent_transaction(outputs: Sequence[tuple[Step, str]]) -> str:
    """Return the hash of the swap that the tutorial sends."""
    (printed,) = (printed for step, printed in outputs if step.text.startswith("echo $TX"))
    return printed.splitlines()[0]


@pytest.mark.parametrize("page", [TUTORIAL, *HOW_TOS], ids=lambda page: page.stem)
def test_a_guide_is_short(page: Path) -> None:
    assert len(page.read_text().splitlines()) <= (2 if page == TUTORIAL else 1) * MAX_LINES


def test_the_list_of_how_tos_is_complete() -> None:
    linked = re.findall(r"\]\(([a-z-]+\.md)\)", (DOCS / "how-to" / "README.md").read_text())
    assert sorted(linked) == [page.name for page in HOW_TOS]
