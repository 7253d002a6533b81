"""What a one-shot command may load. Wall-clock limits flap; a list of modules does not."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from types import MappingProxyType

import pytest

from tests.examples import few_rows
from tests.support.command import run_swapcli

MOST_MODULES = {"route": 179, "calldata": 207}
"""Modules of the project that a quote and its payload may load; a module takes about 0.2 ms."""
MOST_MORE = {"calldata": 31, "execute": 32}
"""Modules of the project that a payload may load beyond a quote."""

BANNED = {
    "web3", "ens", "eth_abi", "eth_utils", "eth_account", "pydantic", "httpx", "starlette", "uvicorn", "numpy", "scipy",
    "rich", "yaml", "msgspec", "asyncio", "unittest", "decimal", "typer",
}  # fmt: skip
LASTING = {"web3", "websockets", "aiohttp", "eth_abi", "eth_utils", "eth_account"}
"""Libraries of lasting connections."""
UNNEEDED = {
    "what people see": (
        "faces.cli.render.route_view", "faces.cli.render.plain", "faces.cli.render.terminal_tables",
        "faces.cli.render.list_view", "faces.cli.errors", "faces.cli.render.columns", "faces.cli.terminal",
        "quoting.pictures", "quoting.pictures.picture_width",
    ),
    "other commands": (
        "faces.cli.commands.route.batch", "faces.cli.commands.config", "faces.cli.commands.networks",
        "faces.cli.commands.tokens", "faces.cli.commands.protocols", "faces.cli.commands.completion",
    ),
    "files of settings": ("quoting.config.yaml_parser", "quoting.config.display"),
    "other orders": (
        "core.routing.exact_output", "core.routing.least_input", "core.routing.competing_routes",
        "families.fixed_rate.wrapper", "families.balancer.weighted", "families.balancer.log_exp",
        "quoting.amount_notation", "quoting.order_amounts",
    ),
    "health": ("quoting.health",),
    "what only annotations name": ("quoting.quote_keywords", "interface.json_types"),
    "addresses of pools": ("core.networks.pool_addresses",),
    "transactions": (
        "core.model.transaction", "core.model.router_dialect", "core.model.router_findings",
        "core.networks.name_services",
    ),
}  # fmt: skip
"""Modules of the project that the JSON of one quote on the embedded market of Base has no use for."""


PAYING = ("--destination", "0x1111111111111111111111111111111111111111")
ORDER = ("base", "ETH", "USDC", "1")
ONE_SHOT = {
    "route": ("route", *ORDER, "--json"),
    "calldata": ("calldata", *ORDER, *PAYING, "--json"),
    "approval": ("calldata", "base", "USDC", "ETH", "1", *PAYING, "--with-approval", "--get", "calldata"),
    "execute": ("execute", *PAYING, "--json"),
    "health": ("health", "base", "--json"),
}


def loaded_after(*arguments: str, stdin: str = "") -> set[str]:
    """The modules of a fresh interpreter after a command line without settings."""
    return modules_after(
        "import sys, json\n"
        "from swapcli.faces.cli.app import run\n"
        f"status = run({list(arguments)!r})\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
        "sys.exit(status)",
        stdin=stdin,
    )


def modules_after(script: str, *, stdin: str = "", env: Mapping[str, str] = MappingProxyType({})) -> set[str]:
    """The modules that a script in a fresh interpreter prints as the last line of its stderr."""
    env = {"HOME": "/nonexistent", "PATH": os.defpath, "SWAPCLI_LIVE": "never", **env}
    ran = subprocess.run(
        [sys.executable, "-I", "-c", script], env=env, input=stdin, capture_output=True, text=True, check=True
    )
    return set(json.loads(ran.stderr.splitlines()[-1]))


@cache
def loaded_by(command: str) -> frozenset[str]:
    """What one of `ONE_SHOT` loads; `execute` gets a route."""
    route = run_swapcli(*ONE_SHOT["route"]).stdout if command == "execute" else ""
    return frozenset(loaded_after(*ONE_SHOT[command], stdin=route))


@pytest.fixture(scope="module")
def loaded() -> frozenset[str]:
    return loaded_by("route")


@pytest.mark.parametrize("command", ONE_SHOT)
def test_what_programs_run_loads_nothing_heavy(command: str) -> None:
    assert not {name.split(".")[0] for name in loaded_by(command)} & BANNED


@pytest.mark.parametrize("command", ONE_SHOT)
def test_what_answers_here_loads_no_service_and_no_client(command: str) -> None:
    layers = (
        "swapcli.faces.service",
        "swapcli.quoting.remote",
        "swapcli.quoting.sources.remote",
        "swapcli.payload.starknet",
    )
    assert not [name for name in loaded_by(command) if name.startswith(layers)]


@pytest.mark.parametrize("command", ["calldata", "execute"])
def test_a_payload_loads_little_more_than_a_quote(command: str) -> None:
    """The hash function, for one: the checksum of the recipient is not in the catalogue."""
    own = {name for name in loaded_by(command) - loaded_by("route") if name.startswith("swapcli.")}
    rows = {name for name in own if re.fullmatch(r"swapcli\.families\.(\w+\.)?rows?", name)}
    allowed = {"core", "interface", "payload", "quoting", "faces"}
    assert {name.split(".")[1] for name in own - rows} <= allowed
    assert len(own) <= MOST_MORE[command]


@pytest.mark.parametrize("command", MOST_MODULES)
def test_a_one_shot_command_loads_few_modules(command: str) -> None:
    own = [name for name in loaded_by(command) if name.startswith("swapcli")]
    assert len(own) <= MOST_MODULES[command]


def test_a_payload_starts_no_process_and_loads_no_hash_library() -> None:
    script = (
        "import json, sys\n"
        "events = set()\n"
        "sys.addaudithook(lambda event, _: events.add(event))\n"
        "from swapcli.faces.cli.app import run\n"
        f"assert run({list(ONE_SHOT['calldata'])!r}) == 0\n"
        "loaded = {'_posixsubprocess', '_uuid', 'Crypto'} & set(sys.modules)\n"
        "started = ('subprocess', 'os.exec', 'os.fork', 'os.posix_spawn')\n"
        "forks = [event for event in events if event.startswith(started)]\n"
        "print(json.dumps([sorted(loaded), forks]), file=sys.stderr)\n"
    )
    ran = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(ran.stderr.splitlines()[-1]) == [[], []]


@pytest.mark.parametrize("reason", UNNEEDED)
def test_a_json_quote_loads_no_unneeded_module(loaded: frozenset[str], reason: str) -> None:
    unneeded = {f"swapcli.{name}" for name in UNNEEDED[reason]}
    assert all(find_spec(name) for name in unneeded), "the list names modules that exist"
    assert not loaded & unneeded


def test_a_quote_on_an_embedded_market_hashes_nothing(loaded: frozenset[str]) -> None:
    assert not {name.split(".")[0] for name in loaded} & {"Crypto", "ctypes"}


@pytest.mark.parametrize("command", ["route", "health"])
@pytest.mark.parametrize("url", ["ws://127.0.0.1:9", "wss://node.example/key", "/run/node.ipc"])
def test_one_shot_commands_need_no_websocket_client(command: str, url: str) -> None:
    """They refuse a node that they cannot read over http, in one sentence, before anything heavy is loaded."""
    script = (
        "import sys, json\n"
        "from swapcli.faces.cli.app import run\n"
        f"assert run({list(ONE_SHOT[command])!r}) in (1, 2)\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
    )
    modules = modules_after(script, env={"SWAPCLI_NETWORKS_BASE_RPC_URL": url, "SWAPCLI_LIVE": "auto"})
    assert not {name.split(".")[0] for name in modules} & LASTING


@pytest.mark.parametrize(
    ("url", "is_needed"),
    few_rows([("http://127.0.0.1:9", False), ("ws://127.0.0.1:9", True), ("/run/node.ipc", True), (None, False)], 2),
)
def test_a_service_loads_web3_for_websocket_and_ipc_only(url: str | None, is_needed: bool) -> None:
    script = (
        "import sys, json\n"
        "from swapcli.faces.cli.options import OutputOptions\n"
        "from swapcli.faces.cli.session import open_session\n"
        "from swapcli.faces.service.service_sources import open_service_sources\n"
        "import swapcli.faces.service.app, swapcli.faces.service.server, swapcli.faces.service.market_followers\n"
        "sources = open_service_sources(open_session(OutputOptions()).sources, ['base'], print)\n"
        f"assert len(sources.followed) == {int(url is not None)}\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
    )
    modules = modules_after(script, env={"SWAPCLI_NETWORKS_BASE_RPC_URL": url, "SWAPCLI_LIVE": "auto"} if url else {})
    assert bool({name.split(".")[0] for name in modules} & LASTING) == is_needed


def test_the_overview_loads_no_command_and_no_layer_below() -> None:
    script = (
        "import sys, json; sys.argv = ['swapcli', '--help']\n"
        "from swapcli.startup import main; main()\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
    )
    loaded = modules_after(script)
    assert {name for name in loaded if name.startswith("swapcli.")} == {
        "swapcli.core",
        "swapcli.faces",
        "swapcli.faces.cli",
        "swapcli.faces.cli.overview",
        "swapcli.faces.cli.render",
        "swapcli.faces.cli.render.columns",
        "swapcli.faces.cli.terminal",
        "swapcli.state",
        "swapcli.state.environment",
        "swapcli.core.records",
        "swapcli.startup",
    }
    assert not loaded & {"typer", "inspect", "pathlib", "dataclasses"}


def test_plain_text_needs_no_rich() -> None:
    assert "rich" not in loaded_after("route", "base", "ETH", "USDC", "1", "--format=plain")


def test_the_version_loads_nothing_else() -> None:
    script = (
        "import sys; before = set(sys.modules); sys.argv = ['swapcli', '--version']\n"
        "from swapcli.__main__ import main; main()\n"
        "print(sorted(set(sys.modules) - before))"
    )
    ran = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    version = "'swapcli.core', 'swapcli.core.version'"
    assert ran.stdout.splitlines()[1] == f"['__future__', 'swapcli', 'swapcli.__main__', {version}, 'swapcli.startup']"
