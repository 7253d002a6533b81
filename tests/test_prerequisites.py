"""`scripts/prerequisites` on machines that lack programs, which a folder of fake programs stands for."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "prerequisites"
SHELL = shutil.which("sh") or "/bin/sh"


def needs() -> dict[str, str]:
    """The packages of Debian by command."""
    # Without PYTHON, which `make test PYTHON=...` hands down.
    env = {"PATH": os.environ["PATH"]}
    ran = subprocess.run([SHELL, SCRIPT, "--list"], capture_output=True, text=True, check=True, env=env)
    rows = [line.split("\t") for line in ran.stdout.splitlines()]
    return {command: packages for command, packages, _ in rows}


NEEDS = needs()
UPDATE = "update -qq"


class Machine:
    """A machine that has only the programs in a folder."""

    def __init__(self, folder: Path, *, user_id: int = 1000, node: str = "v20.0.0") -> None:
        self.folder, self.log = folder / "bin", folder / "log"
        self.folder.mkdir()
        self.log.touch()
        for command in NEEDS:
            self.add(command)
        self.add("node", f"echo {node}")
        self.add("id", f"echo {user_id}")

    def add(self, command: str, script: str = "exit 0") -> None:
        file = self.folder / command
        file.write_text(f"#!{SHELL}\n{script}\n")
        file.chmod(0o755)

    def add_apt(self, *, works: bool = True) -> None:
        """Add an apt-get that logs its arguments, and installs the packages if it `works`."""
        chmod, copy = shutil.which("chmod"), shutil.which("cp")
        lines = [f'echo "$*" >> {self.log}', 'case "$1" in update) exit 0;; esac']
        for command, packages in NEEDS.items() if works else ():
            package = packages.split()[0]
            what = "node" if command == "node" else "id"
            lines.append(
                f'case "$*" in *" {package}"*) [ -e {self.folder}/{command} ] || {copy} {self.folder}/{what} '
                f"{self.folder}/{command}; {chmod} +x {self.folder}/{command};; esac"
            )
        self.add("apt-get", "\n".join(lines))

    def remove(self, *commands: str) -> None:
        for command in commands:
            (self.folder / command).unlink()

    def check(self, **variables: str) -> subprocess.CompletedProcess[str]:
        env = {"PATH": str(self.folder), **variables}
        return subprocess.run([SHELL, SCRIPT], capture_output=True, text=True, env=env, check=False)

    @property
    def calls(self) -> list[str]:
        """The calls of apt-get."""
        return self.log.read_text().splitlines()


def test_a_machine_that_has_everything_is_left_alone(tmp_path: Path) -> None:
    machine = Machine(tmp_path, user_id=0)
    machine.add_apt()
    ran = machine.check()
    assert (ran.returncode, ran.stdout, ran.stderr, machine.calls) == (0, "", "", [])


@pytest.mark.parametrize("command", NEEDS)
def test_each_program_is_missed(tmp_path: Path, command: str) -> None:
    machine = Machine(tmp_path)
    machine.remove(command)
    ran = machine.check()
    assert ran.returncode == 1
    assert f"  {command} (missing): " in ran.stderr
    assert ran.stderr.splitlines()[-1].endswith(f"apt-get install --no-install-recommends {NEEDS[command]}")


def test_all_that_is_missing_is_one_list_and_one_line(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.remove(*NEEDS)
    ran = machine.check()
    assert ran.returncode == 1
    assert re.findall(r"^  (\S+) \(missing\): ", ran.stderr, re.MULTILINE) == [*NEEDS]
    assert ran.stderr.count("apt-get install") == 1
    assert ran.stderr.splitlines()[-1].endswith(" ".join(["--no-install-recommends", *NEEDS.values()]))


@pytest.mark.parametrize("node", ["v18.20.4", "v9", "", "x"])
def test_an_old_node_will_not_do(tmp_path: Path, node: str) -> None:
    ran = Machine(tmp_path, node=node).check()
    assert ran.returncode == 1
    assert f"  node (too old: {node or 'no version'}): Node 20 or later" in ran.stderr


@pytest.mark.parametrize("node", ["v20.0.0", "v22.11.0", "v100.1.1"])
def test_a_newer_node_will_do(tmp_path: Path, node: str) -> None:
    assert Machine(tmp_path, node=node).check().returncode == 0


def test_the_python_of_make_counts(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.remove("python3")
    assert machine.check(PYTHON=sys.executable).returncode == 0
    machine.add("python3", "exit 1")
    assert "  python3 (too old): Python 3.11 or later" in machine.check().stderr
    machine.add("python3", 'case "$2" in *venv*) exit 1;; esac')
    assert "  python3 (without venv): " in machine.check().stderr


def test_root_on_debian_installs_what_is_missing(tmp_path: Path) -> None:
    machine = Machine(tmp_path, user_id=0)
    machine.add_apt()
    machine.remove("fish", "redis-server")
    ran = machine.check()
    assert (ran.returncode, ran.stdout) == (0, "")
    assert machine.calls == [UPDATE, "install -y -qq --no-install-recommends redis-server fish"]
    assert machine.check().stderr == ""


def test_what_cannot_be_installed_is_listed(tmp_path: Path) -> None:
    machine = Machine(tmp_path, user_id=0, node="v18.0.0")
    machine.add_apt(works=False)
    ran = machine.check()
    assert ran.returncode == 1
    assert len(machine.calls) == 2
    assert "node (too old: v18.0.0)" in ran.stderr


@pytest.mark.parametrize(("user_id", "variables"), [(0, {"INSTALL": "no"}), (1000, {})])
def test_nothing_is_installed_unless_root_lets_it(tmp_path: Path, user_id: int, variables: dict[str, str]) -> None:
    machine = Machine(tmp_path, user_id=user_id)
    machine.add_apt()
    machine.remove("zsh")
    assert machine.check(**variables).returncode == 1
    assert machine.calls == []


def test_a_benchmark_needs_less_and_does_without_wrk(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.remove("zsh", "redis-server", "chromium")
    assert (ran := machine.check(FOR="bench")).returncode == 0
    assert (ran.stdout, ran.stderr) == ("", "")
    machine.remove("node", "npm")
    ran = machine.check(FOR="bench")
    assert ran.returncode == 1
    assert ran.stderr.startswith("make bench needs what is not here:\n  node (missing): ")
    assert "zsh" not in ran.stderr


def test_root_on_debian_installs_what_a_benchmark_can_use(tmp_path: Path) -> None:
    machine = Machine(tmp_path, user_id=0)
    machine.add_apt()
    machine.remove("npm")
    assert machine.check(FOR="bench").returncode == 0
    assert machine.calls == [UPDATE, "install -y -qq --no-install-recommends npm wrk"]
    machine.add("wrk")
    assert machine.check(FOR="bench", INSTALL="no").returncode == 0
    assert len(machine.calls) == 2


def test_make_stops_before_anything_else(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.remove("zsh", "make")
    make = shutil.which("make")
    assert make is not None
    env = {"PATH": str(machine.folder)}
    command = [make, "test", "INSTALL=no", f"SHELL={SHELL}"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=env, check=False)
    assert ran.returncode != 0
    assert ran.stdout == ""
    assert "  zsh (missing): completion" in ran.stderr


def test_the_guide_for_contributors_names_every_program() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    start = text.index("needs `make`")
    named = re.findall(r"`([^`]+)`", text[start : text.index("As root on Debian", start)])
    assert named == [*NEEDS]


def test_the_oldest_python_is_that_of_the_package() -> None:
    found = re.search(r"^MIN_PYTHON_MINOR=(\d+)$", SCRIPT.read_text(), re.MULTILINE)
    assert found is not None
    assert f'requires-python = ">=3.{found[1]}"' in (ROOT / "pyproject.toml").read_text()


def test_all_checks_need_the_languages_of_generated_clients(tmp_path: Path) -> None:
    ran = Machine(tmp_path).check(FOR="check-full")
    assert ran.returncode == 1
    assert ran.stderr.startswith("make check-full needs what is not here:\n  javac (missing): ")
    assert "  go (missing): " in ran.stderr
