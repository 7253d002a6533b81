"""On a machine whose clock is wrong, commands and programs quote on what two nodes prove to be new.

The clock of this machine is right, so the time of the chain and of its nodes is shifted instead.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from swapcli import Market
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.proxy import Proxy, open_proxy
from tests.chain.test_live_by_default import NO_NODE, PAIR, User
from tests.chain.trader import Trader
from tests.support.chain import restored
from tests.support.command import CommandResult, run_swapcli

WALLET = ("--destination", "0x" + "b0" * 20)
TOLERANCE_S = 15


class ShiftedUser(User):
    """A user whose nodes live at another time."""

    block_time_s = 2

    def __init__(self, trader: Trader, folder: Path, proxies: list[Proxy]) -> None:
        super().__init__(trader, folder)
        self.proxies = proxies
        self._node = trader.chain.node

    @contextmanager
    def shifted(self, shift_s: int, *, date_shift_s: int | None = None) -> Iterator[list[str]]:
        """Mine a block at the shifted time; return the URLs of two nodes."""
        snapshot = self._node.ask("evm_snapshot")
        for proxy in self.proxies:
            proxy.date_shift_s = shift_s if date_shift_s is None else date_shift_s
        self._node.ask("evm_setNextBlockTimestamp", hex(int(time.time()) + shift_s))
        self._node.ask("evm_mine")
        try:
            yield [f"http://127.0.0.1:{proxy.server_port}" for proxy in self.proxies]
        finally:
            self._node.ask("evm_revert", snapshot)


@pytest.fixture(scope="module")
def user(shared_trader: Trader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShiftedUser]:
    with restored(shared_trader) as trader, ExitStack() as stack:
        trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
        proxies = [stack.enter_context(open_proxy(trader.chain.node.port)) for _ in range(2)]
        yield ShiftedUser(trader, tmp_path_factory.mktemp("clock"), proxies)


@pytest.fixture(params=[-3_600, 30, 3_600])
def shift_s(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def codes(ran: CommandResult) -> list[str]:
    assert ran.exit_code == 0, ran.stderr
    return [each["code"] for each in ran.json["warnings"]]


def check_live(document: dict[str, Any], shift_s: int) -> None:
    state, now_s = document["state"], time.time() + shift_s
    assert state["kind"] == "live"
    assert state["ageS"] <= TOLERANCE_S
    assert document["expiresAt"] == pytest.approx(now_s + 60, abs=TOLERANCE_S)


def test_a_route_is_live_and_expires_by_the_time_of_the_nodes(user: ShiftedUser, shift_s: int) -> None:
    with user.shifted(shift_s) as public:
        ran = user.run("route", *PAIR, "--max-age", "20", "--json", public=[NO_NODE, *public])
    assert codes(ran).count("CLOCK_DIFFERS") == 1
    check_live(ran.json, shift_s)
    (said,) = [each["message"] for each in ran.json["warnings"] if each["code"] == "CLOCK_DIFFERS"]
    assert ("behind" if shift_s < 0 else "ahead of") in said


def test_a_payload_has_the_warning_once(user: ShiftedUser, shift_s: int) -> None:
    with user.shifted(shift_s) as public:
        ran = user.run("calldata", *PAIR, *WALLET, "--json", public=public)
    assert codes(ran).count("CLOCK_DIFFERS") == 1
    check_live(ran.json, shift_s)


def test_a_route_found_on_a_wrong_clock_can_be_executed(user: ShiftedUser, shift_s: int) -> None:
    with user.shifted(shift_s) as public:
        route = user.run("route", *PAIR, "--json", public=public)
        file = user.folder / "route.json"
        file.write_text(route.stdout)
        ran = run_swapcli("execute", str(file), *WALLET, "--network", user.name, "--json", env=user.environment(public))
    assert codes(ran).count("CLOCK_DIFFERS") == 1
    check_live(ran.json, shift_s)


def test_a_program_reads_the_same(user: ShiftedUser, shift_s: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with user.shifted(shift_s) as public:
        for name, value in user.environment(public).items():
            monkeypatch.setenv(name, value)
        with Market.open(user.name) as market:
            quote = market.quote(*PAIR)
    assert quote.state.is_live
    assert quote.state.clock_offset_s == pytest.approx(shift_s, abs=TOLERANCE_S)
    assert "CLOCK_DIFFERS" in [each.code for each in quote.warnings]


@pytest.mark.parametrize(("date_shift_s", "count"), [(0, 2), (-3_600, 1)])
def test_old_blocks_and_single_nodes_are_not_live(user: ShiftedUser, date_shift_s: int, count: int) -> None:
    """The nodes of a chain that has halted for an hour have the right date."""
    with user.shifted(-3_600, date_shift_s=date_shift_s) as public:
        settings: dict[str, object] = {"live_timeout_s": 0.4}
        ran = user.run("route", *PAIR, "--live", "--json", public=public[:count], settings=settings)
    assert ran.exit_code == 5
    assert "by this machine's clock" in ran.error["message"]
