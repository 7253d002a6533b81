"""Reads keys, rate limits, CORS origins and trusted proxies again while requests are answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from swapcli.engine.clock import Clock
from swapcli.errors import SwapcliError
from swapcli.service.access_log import AccessLog
from swapcli.service.access_policy import AccessPolicy, KeyLookup

if TYPE_CHECKING:
    from swapcli.config.settings import ServiceSettings


class PolicyReloader:
    """Replaces a policy by what `read` returns, in one step. Where it raises, the old policy stays in force."""

    def __init__(
        self,
        policy: AccessPolicy,
        read: Callable[[], tuple[ServiceSettings, KeyLookup]],
        log: AccessLog | None,
        clock: Clock,
    ) -> None:
        self._policy = policy
        self._read = read
        self._log = log
        self._clock = clock

    async def __call__(self) -> None:
        """Read off the event loop, apply on it, and write to the log what came of it."""
        try:
            settings, keys = await asyncio.to_thread(self._read)
            self._policy.replace(settings, keys)
        except SwapcliError as error:
            self._log_result(error)
        except Exception as error:
            # A defect, or a file system that fails: the service goes on.
            if self._log:
                self._log.log_defect("reload", error, self._clock.now_s())
        else:
            self._log_result(None)

    def _log_result(self, error: SwapcliError | None) -> None:
        if self._log:
            self._log.log_reload(error, self._clock.now_s())
