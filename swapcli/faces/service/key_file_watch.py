"""Report a damaged key file: once in the log, on the readiness page, and as a gauge."""

from __future__ import annotations

import asyncio

from swapcli.faces.service.access_log import AccessLog
from swapcli.faces.service.access_policy import AccessPolicy
from swapcli.faces.service.worker_group import GroupMember
from swapcli.state.clock import Clock

KEY_FILE_DAMAGED = "KEY_FILE_DAMAGED"
"""The code of the readiness page's warning."""
CHECK_S = 0.5
"""Time between two checks of the file. Damage must be logged within a second, and a check takes microseconds."""


class KeyFileWatch:
    """A watch on the key file of the current policy. The first worker that sees a change logs it."""

    def __init__(self, policy: AccessPolicy, log: AccessLog | None, clock: Clock, member: GroupMember | None) -> None:
        self._policy, self._log, self._clock = policy, log, clock
        self._group = member.group if member else None
        self._logged: str | None = None

    @property
    def warnings(self) -> list[str]:
        """The warnings for the readiness page."""
        return [] if self.is_valid else [KEY_FILE_DAMAGED]

    @property
    def is_valid(self) -> bool:
        """Whether the file is valid."""
        return self._policy.rules.keys.problem is None

    async def run(self) -> None:
        """Log changes until cancelled."""
        while True:
            self.check()
            await asyncio.sleep(CHECK_S)

    def check(self) -> None:
        """Log that the file has become invalid, or is valid again."""
        problem = self._policy.rules.keys.problem
        if problem == self._logged:
            return
        self._logged = problem
        if self._log and (self._group is None or self._group.key_file.set_problem(problem)):
            self._log.log_key_file(problem, self._clock.now_s())
