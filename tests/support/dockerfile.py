"""Dockerfiles: a parser, and a runner that needs no Docker.

Each stage is an overlay of this machine's file system in a mount namespace, in which RUN and the service run with
chroot, as the user given by USER. The base image is this machine, with its Python as `python`. This requires root.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

_TIMEOUT_S = 300
_ENTER = """
mount -t overlay overlay -o "lowerdir=/,upperdir=$LAYER/upper,workdir=$LAYER/work" "$LAYER/root" &&
mount --rbind /dev "$LAYER/root/dev" && mount -t proc proc "$LAYER/root/proc" && exec chroot "$@"
"""
_LOOPBACK_UP = """
import fcntl, os, socket, struct, sys
# SIOCSIFFLAGS with IFF_UP and IFF_RUNNING: a new network namespace has its loopback interface down.
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh14x", b"lo", 0x41))
os.execvp(sys.argv[1], sys.argv[1:])
"""


class Instruction(NamedTuple):
    """One instruction with its flags (`--from`) and the rest of its line."""

    name: str
    flags: Mapping[str, str]
    text: str

    def command(self) -> list[str]:
        """Return the command of RUN, CMD, ENTRYPOINT or HEALTHCHECK: its exec form, or the shell that runs its text."""
        text = self.text.removeprefix("CMD ")
        return json.loads(text) if text.startswith("[") else ["/bin/sh", "-c", text]


def parse_dockerfile(text: str) -> list[Instruction]:
    """Return the instructions of a Dockerfile in order."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [_parse_line(line) for line in joined.splitlines()]


def _parse_line(line: str) -> Instruction:
    name, _, rest = line.partition(" ")
    flags = {}
    while match := re.match(r"--([a-z-]+)=(\S+)\s+", rest):
        flags[match[1]] = match[2]
        rest = rest[match.end() :]
    return Instruction(name.upper(), flags, rest.strip())


@dataclass
class Stage:
    """A built stage: its file system, and the container settings from its instructions."""

    layer: Path
    env: dict[str, str] = field(default_factory=lambda: {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"})
    user: str = "0"
    folder: str = "/"
    entrypoint: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    healthcheck: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in ("upper", "work", "root"):
            (self.layer / name).mkdir(parents=True)

    def enter(self, command: Sequence[str]) -> list[str]:
        """Return the arguments of chroot(1) for a command."""
        env = [f"{name}={value}" for name, value in self.env.items()]
        script = f"cd {shlex.quote(self.folder)} && exec {shlex.join(command)}"
        return [f"--userspec={self.user}", f"{self.layer}/root", "/usr/bin/env", "-i", *env, "/bin/sh", "-c", script]

    def run(self, command: Sequence[str]) -> str:
        """Run a command in the stage and return its output. Raises `AssertionError` if it fails."""
        arguments = ["unshare", "--mount", "/bin/sh", "-c", _ENTER, "sh", *self.enter(command)]
        return run_checked(arguments, env=os.environ | {"LAYER": str(self.layer)})

    def path(self, inside: str) -> Path:
        """Return the location, in the stage's layer, of a path that the stage wrote."""
        return self.layer / "upper" / os.path.join(self.folder, inside).lstrip("/")


def run_checked(arguments: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> str:
    """Run a command and return its output. Raises `AssertionError` with its stderr if it fails."""
    ran = subprocess.run(arguments, capture_output=True, text=True, env=env, cwd=cwd, check=False, timeout=_TIMEOUT_S)
    assert ran.returncode == 0, f"{arguments}: {ran.stdout}{ran.stderr}"
    return ran.stdout


def build(instructions: Sequence[Instruction], context: Path, folder: Path) -> Stage:
    """Execute the instructions as `docker build` does, layers in `folder`; return the last stage."""
    stages: dict[str, Stage] = {}
    stage = None
    for instruction in instructions:
        if instruction.name == "FROM":
            name = instruction.text.partition(" AS ")[2] or "final"
            stages[name] = stage = _base_image(folder / name)
        elif stage is not None:
            _execute(instruction, stage, stages, context)
    assert stage is not None
    return stage


def _base_image(layer: Path) -> Stage:
    stage = Stage(layer)
    executable = os.path.realpath(sys.executable)
    # An interpreter in root's home directory: other users must be able to reach it.
    parents = [str(parent) for parent in Path(executable).parents]
    stage.run(["chmod", "a+x", *parents])
    if not Path(executable).with_name("python").exists():
        stage.run(["ln", "-s", executable, str(Path(executable).with_name("python"))])
    stage.env["PATH"] = f"{Path(executable).parent}:{stage.env['PATH']}"
    return stage


def _execute(instruction: Instruction, stage: Stage, stages: Mapping[str, Stage], context: Path) -> None:
    text = instruction.text
    match instruction.name:
        case "RUN":
            stage.run(instruction.command())
        case "COPY":
            origin = stages[instruction.flags["from"]].path if "from" in instruction.flags else context.joinpath
            *sources, target = text.split()
            for source in sources:
                _copy(origin(source), stage.path(target) / Path(source).name if target == "./" else stage.path(target))
        case "ENV":
            for assignment in shlex.split(text):
                name, _, value = assignment.partition("=")
                stage.env[name] = value.replace("$PATH", stage.env["PATH"])
        case "USER":
            stage.user = text
        case "WORKDIR":
            stage.folder = text
            stage.path("").mkdir(parents=True, exist_ok=True)
        case "ENTRYPOINT":
            stage.entrypoint = instruction.command()
        case "CMD":
            stage.arguments = instruction.command()
        case "HEALTHCHECK":
            stage.healthcheck = instruction.command()
        case "VOLUME" | "EXPOSE" | "LABEL":
            pass
        case _:
            raise AssertionError(f"unexpected instruction {instruction.name}")


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy2(source, target)


@dataclass
class Container:
    """A running container: its first process, in its own mount, network and process namespaces."""

    stage: Stage
    process: subprocess.Popen[str]
    pid: int

    def run(self, command: Sequence[str]) -> str:
        """Run a command inside, as `docker exec` does. Raises `AssertionError` if it fails."""
        enter = ["nsenter", f"--target={self.pid}", "--mount", "--net", "--pid", "chroot"]
        return run_checked([*enter, *self.stage.enter(command)])

    def stop(self) -> int:
        """Send SIGTERM to the first process, as `docker stop` does, and return the exit status."""
        os.kill(self.pid, 15)
        return self.process.wait(timeout=30)


@contextmanager
def running(stage: Stage, *arguments: str) -> Iterator[Container]:
    """Run the entry point until it writes a line to stdout, by default with the arguments of the image; kill it at the
    end."""
    inside = [sys.executable, "-c", _LOOPBACK_UP, "/bin/sh", "-c", _ENTER, "sh"]
    namespaces = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child"]
    command = [*namespaces, *inside, *stage.enter([*stage.entrypoint, *(arguments or stage.arguments)])]
    env = os.environ | {"LAYER": str(stage.layer)}
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline(), "it ended early"
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        yield Container(stage, process, int(children[0]))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def is_namespace_available() -> bool:
    """Return True if this process may create mount and network namespaces with overlays: as root on Linux."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "--mount", "--net", "true"], capture_output=True, check=False).returncode == 0
