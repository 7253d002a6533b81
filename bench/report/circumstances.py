"""The date, machine and duration of a measurement."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from bench.report.machine import revision


class Circumstances(NamedTuple):
    """The circumstances of figures: the date, the minutes, the tool versions, and load averages and revisions before
    and after the run; `command` measures them again."""

    command: str
    started: datetime
    minutes: float
    load: tuple[float, float]
    revisions: tuple[str, str]
    versions: Mapping[str, str] = {}

    @property
    def measured(self) -> str:
        """Return the date, revision and load in words."""
        began, (before, after) = self.started.strftime("%Y-%m-%d %H:%M UTC"), self.load
        revisions = ", then ".join(dict.fromkeys(self.revisions))
        return f"{began} at {revisions}, load average {before:.2f} before and {after:.2f} after"


class Clock:
    """Records the circumstances when it is created."""

    def __init__(self) -> None:
        self._started, self._began_s = datetime.now(UTC), time.monotonic()
        self._load, self._revision = os.getloadavg()[0], revision()

    @property
    def minutes(self) -> float:
        """Return the minutes so far."""
        return (time.monotonic() - self._began_s) / 60

    def stop(self, command: str, versions: Mapping[str, str] | None = None) -> Circumstances:
        """Return the circumstances of a run that ends now."""
        load, revisions = (self._load, os.getloadavg()[0]), (self._revision, revision())
        return Circumstances(command, self._started, self.minutes, load, revisions, versions or {})
