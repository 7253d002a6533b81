"""Progress of a sync on a terminal: one bar per phase, and a line with the store's contents."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from rich.console import RenderableType
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from swapcli.core.encoding.text import counted, printable
from swapcli.faces.cli.render.terminal_tables import new_console
from swapcli.state.sync import Progress as SyncProgress

BAR_WIDTH = 20
_FIRST_PHASE = "reading the latest block"


class SyncProgressBars:
    """Progress bars on stderr for the duration of the context. `color` is auto, always or never."""

    def __init__(self, color: str) -> None:
        self._phases: dict[str, TaskID] = {}
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(BAR_WIDTH),
            _Counts(),
            TimeElapsedColumn(),
        )
        self._display = _StatusProgress(*columns, console=new_console(color, sys.stderr))

    def __enter__(self) -> Self:
        self._phases[_FIRST_PHASE] = self._display.add_task(_FIRST_PHASE, total=None)
        self._display.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._finish()
        self._display.stop()

    def show(self, progress: SyncProgress) -> None:
        """Show the current progress."""
        if progress.phase not in self._phases:
            self._finish()
            self._phases[progress.phase] = self._display.add_task(printable(progress.phase), total=None)
        self._display.status_line = f"{counted(progress.pools, 'pool')}, block {progress.block:,}"
        self._display.update(self._phases[progress.phase], completed=progress.done, total=progress.total)

    def _finish(self) -> None:
        """Complete the bars of all earlier phases."""
        for task in self._display.tasks:
            total = task.total or task.completed
            self._display.update(task.id, completed=total, total=total)
            self._display.stop_task(task.id)


class _Counts(ProgressColumn):
    """What is done of the total; empty for a phase that counts nothing."""

    def render(self, task: Task) -> Text:
        """Render the counts of a phase."""
        if not task.total:
            return Text(f"{task.completed:,.0f}" if task.completed else "")
        return Text(f"{task.completed:,.0f}/{task.total:,.0f}")


class _StatusProgress(Progress):
    status_line = ""

    def get_renderables(self) -> Iterator[RenderableType]:
        yield from super().get_renderables()
        yield Text(self.status_line)
