"""What holds of the router for all callers, times and bytes, by symbolic execution; a broken one is noticed."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.contracts.build import ROUTER
from tests.contracts.foundry.symbolic_checks import CHECKS, run_checks

BROKEN = {
    "check_busy_router_refuses_every_entry": "if (_state != IDLE) revert Reentered();",
    "check_idle_router_refuses_native_currency": "if (_state == IDLE) revert UnexpectedCaller(msg.sender);",
    "check_idle_router_refuses_any_callback": "if (_state != _promise(msg.sender, callback, data)) revert",
    "check_idle_router_refuses_the_pool_manager": "_admit(this.unlockCallback.selector, data);",
    "check_idle_router_refuses_vaults_of_infinity": "_admit(this.lockAcquired.selector, data);",
    "check_idle_router_refuses_vaults_of_balancer": "_admit(this.balancerCallback.selector, msg.data);",
    "check_nobody_else_is_the_pool_manager": "if (msg.sender != POOL_MANAGER) revert UnexpectedCaller(msg.sender);",
    "check_only_the_promised_callback_is_let_in": "_admit(ANY_FUNCTION, data);",
    "check_no_swap_after_its_deadline": "if (block.timestamp > deadline) revert DeadlineExpired();",
    "check_shares_stay_within_their_limits": "if (shares.feeBps > MOST_FEE_BPS) revert",
    "check_the_minimum_is_paid_or_nothing_is_done": "if (received < route.min_received) revert",
    "check_no_rate_beyond_the_scale": "if (rate > RATE_SCALE) revert RateExceedsMaximum();",
}
"""The line without which each check fails."""


def test_every_check_has_a_line_that_breaks_it() -> None:
    checks = re.findall(r"function (check_\w+)", (CHECKS / "RouterSymbolic.t.sol").read_text())
    assert sorted(checks) == sorted(BROKEN)
    sources = "".join(file.read_text() for file in ROUTER.folder.glob("*.sol"))
    assert all(line in sources for line in BROKEN.values())


@pytest.mark.slow
def test_the_checks_hold_for_all_inputs() -> None:
    assert run_checks() == dict.fromkeys(BROKEN, "PASS")


@pytest.mark.slow
@pytest.mark.parametrize("check", BROKEN)
def test_a_check_fails_without_its_line(check: str, tmp_path: Path) -> None:
    for file in ROUTER.folder.glob("*.sol"):
        shutil.copy(file, tmp_path)
        lines = file.read_text().splitlines()
        broken = ["" if BROKEN[check] in line and not line.lstrip().startswith("//") else line for line in lines]
        (tmp_path / file.name).write_text("\n".join(broken) + "\n")
    assert run_checks(tmp_path, check) == {check: "FAIL"}
