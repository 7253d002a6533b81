"""Which uses of prices each state allows: one table, for every command and for the library.

The statuses are written by hand: 0 is a result, 5 the error MODELLED_STATE.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pytest

from swapcli import Market
from swapcli.core.errors import ModelledState
from tests.examples import but_slow
from tests.faces.cli.test_live_default import NO_NETWORK
from tests.support.command import run_swapcli
from tests.support.service import build_app, open_registry, serve_app
from tests.support.testnet import WETH, build_market_document, write_market_file

ROUTER = "0x" + "77" * 20
WALLET = ("--destination", "0x8888888888888888888888888888888888888888")
BATCH = b'{"tokenIn": "ETH", "tokenOut": "USDC", "amount": "1"}'


@dataclass(frozen=True, slots=True)
class State:
    """How a user comes by a state, and the statuses of what is shown, read by a program, and signed."""

    statuses: tuple[int, int, int]
    options: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    provenance: str | None = None
    is_service: bool = False

    @property
    def network(self) -> str:
        return "base" if self.provenance is None else "testnet"


STATES = {
    "modelled without a request": State((0, 5, 5)),
    "modelled, --offline": State((0, 0, 0), ("--offline",)),
    "modelled, live: never": State((0, 0, 0), env={"SWAPCLI_LIVE": "never"}),
    "modelled, by another service": State((0, 5, 5), is_service=True),
    "modelled, by another service, live: never": State((0, 0, 0), env={"SWAPCLI_LIVE": "never"}, is_service=True),
    "synthetic file": State((0, 0, 5), provenance="synthetic"),
    "modelled file": State((0, 0, 5), provenance="modelled"),
    "synthetic file, --offline": State((0, 0, 0), ("--offline",), provenance="synthetic"),
    "recorded file": State((0, 0, 0), provenance="recorded"),
}
SHOWN, NUMBER, PAYLOAD = range(3)
COMMANDS = {
    "route": (SHOWN, ("route", "NETWORK", "ETH", "USDC", "1.5")),
    "route --json": (SHOWN, ("route", "NETWORK", "ETH", "USDC", "1.5", "--json")),
    "route --format mermaid": (SHOWN, ("route", "NETWORK", "ETH", "USDC", "1.5", "--format=mermaid")),
    "route --get": (NUMBER, ("route", "NETWORK", "ETH", "USDC", "1.5", "--get", "outputAmount")),
    "route --get .": (NUMBER, ("route", "NETWORK", "ETH", "USDC", "1.5", "--get", ".")),
    "route --batch": (NUMBER, ("route", "NETWORK", "--batch", "-")),
    "depth": (SHOWN, ("depth", "NETWORK", "DAI", "USDC", "--amounts", "1,2")),
    "depth --get": (NUMBER, ("depth", "NETWORK", "DAI", "USDC", "--amounts", "1,2", "--get", "points.0.outputAmount")),
    "plan": (SHOWN, ("plan", "NETWORK", "ETH", "USDC", "500", "--over", "4h")),
    "plan --get": (NUMBER, ("plan", "NETWORK", "ETH", "USDC", "500", "--over", "4h", "--get", "parts.0.outputAmount")),
    "compare": (SHOWN, ("compare", "NETWORK", "ETH", "USDC", "1.5")),
    "compare --get": (NUMBER, ("compare", "NETWORK", "ETH", "USDC", "1.5", "--get", "alternatives.0.outputAmount")),
    "price": (SHOWN, ("price", "NETWORK", "ETH")),
    "price --get": (NUMBER, ("price", "NETWORK", "ETH", "--get", "prices.0.priceUsd")),
    "pools": (SHOWN, ("pools", "NETWORK", "ETH", "USDC")),
    "pools --get": (NUMBER, ("pools", "NETWORK", "ETH", "USDC", "--get", "pools.0.liquidityUsd")),
    "calldata": (PAYLOAD, ("calldata", "NETWORK", "ETH", "USDC", "1.5", *WALLET)),
    "calldata --get": (PAYLOAD, ("calldata", "NETWORK", "ETH", "USDC", "1.5", *WALLET, "--get", "calldata")),
    "execute": (PAYLOAD, ("execute", "-", *WALLET)),
}


def has_cell(state: State, command: str) -> bool:
    """A service offers no pools, and `depth` takes networks of the catalogue."""
    if state.is_service:
        return command not in ("depth", "plan", "price", "pools")
    return command not in ("depth", "plan") or state.network == "base"


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with serve_app(build_app(open_registry(["base"]))) as url:
        yield url


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    network = build_market_document()["network"] | {"router": ROUTER, "wrapped_native": WETH}
    return {
        provenance: write_market_file(tmp_path_factory.mktemp(provenance), network=network, provenance=provenance)
        for provenance in ("synthetic", "modelled", "recorded")
    }


def options_of(state: State, files: Mapping[str, str], service: str) -> tuple[str, ...]:
    market = ("--market", files[state.provenance]) if state.provenance else ()
    return (*state.options, *market, *(("--api-url", service) if state.is_service else ()))


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("command", but_slow(COMMANDS, "depth --get", "plan --get"))
def test_each_command_follows_the_table(name: str, command: str, files: dict[str, str], service: str) -> None:
    state, (use, words) = STATES[name], COMMANDS[command]
    if not has_cell(state, command.split()[0]):
        return
    env = {**NO_NETWORK, **state.env}
    options = options_of(state, files, service)
    stdin = BATCH
    if command == "execute":
        shown = run_swapcli("route", state.network, "ETH", "USDC", "1.5", "--json", *options, env=env)
        stdin = shown.stdout.encode()
    words = tuple(state.network if word == "NETWORK" else word for word in words)
    ran = run_swapcli(*words, *options, stdin=stdin, env=env)
    assert ran.exit_code == state.statuses[use], ran.stderr
    if ran.exit_code:
        assert "prices are available" in ran.stdout + ran.stderr
        if command != "route --batch":
            assert not ran.stdout
            hint = ran.stderr.splitlines()[-1]
            assert "--offline" in hint or "never" in hint


def test_a_watch_and_an_alert_are_read_by_programs() -> None:
    words = ("route", "base", "ETH", "USDC", "1.5", "--watch", "1")
    for more in ((), ("--when", "outputAmount > 1", "--run", "true")):
        ran = run_swapcli(*words, *more, env=NO_NETWORK)
        assert (ran.exit_code, ran.stdout) == (5, "")
        assert "only modelled prices are available" in ran.stderr


@pytest.mark.parametrize("name", STATES)
def test_the_library_follows_the_table(
    name: str, files: dict[str, str], service: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = STATES[name]
    for variable, value in {**NO_NETWORK, **state.env, "HOME": "/dev/null"}.items():
        monkeypatch.setenv(variable, value)
    settings: dict[str, object] = {"market": files[state.provenance]} if state.provenance else {}
    if state.is_service:
        settings["api_url"] = service
    with Market.open(state.network, offline="--offline" in state.options, settings=settings) as market:
        quote = market.quote("ETH", "USDC", "1.5")
        if state.statuses[PAYLOAD]:
            with pytest.raises(ModelledState):
                quote.transaction(destination=WALLET[1])
        else:
            assert quote.transaction(destination=WALLET[1])["data"]


def test_opening_a_file_requests_no_payload(files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in {**NO_NETWORK, "HOME": "/dev/null"}.items():
        monkeypatch.setenv(variable, value)
    with Market.from_file(files["synthetic"]) as market, pytest.raises(ModelledState):
        market.quote("ETH", "USDC", "1.5").transaction(destination=WALLET[1])
    with Market.from_file(files["synthetic"], settings={"live": "never"}) as market:
        assert market.quote("ETH", "USDC", "1.5").transaction(destination=WALLET[1])["data"]
