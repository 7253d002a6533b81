"""How far a sync is, on a terminal: a bar a phase, and below them what the store holds."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from rich.console import RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from swapcli.cli.render.table import new_console
from swapcli.cli.render.text import printable
from swapcli.engine import sync

BAR_WIDTH = 20


class SyncProgressBars:
    """On stderr, for as long as the `with` lasts; what is drawn stays. `color` is auto, always or never."""

    def __init__(self, color: str) -> None:
        self._phases: dict[str, TaskID] = {}
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(BAR_WIDTH),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        self._drawing = _StatusProgress(*columns, console=new_console(color, sys.stderr))

    def __enter__(self) -> Self:
        self._drawing.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._finish()
        self._drawing.stop()

    def show(self, now: sync.Progress) -> None:
        """Move on to where it is now."""
        if now.phase not in self._phases:
            self._finish()
            self._phases[now.phase] = self._drawing.add_task(printable(now.phase), total=None)
        self._drawing.status_line = f"{now.pools:,} pools of {now.tokens:,} tokens, block {now.block}"
        self._drawing.update(self._phases[now.phase], completed=now.done, total=now.total)

    def _finish(self) -> None:
        """The phases so far are over."""
        for task in self._drawing.tasks:
            whole = task.total or task.completed
            self._drawing.update(task.id, completed=whole, total=whole)
            self._drawing.stop_task(task.id)


class _StatusProgress(Progress):
    status_line = ""

    def get_renderables(self) -> Iterator[RenderableType]:
        yield from super().get_renderables()
        yield Text(self.status_line)
