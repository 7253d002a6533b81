"""Write the page and the history atomically."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from bench.report.circumstances import Circumstances
from bench.report.page import render_history
from bench.report.tables import Section
from bench.running import BenchmarkFailed


def history_of(page: Path) -> Path:
    """Return the file with the tables that belong to a page."""
    return page.parent / "bench" / "HISTORY.md"


def read_text(file: Path) -> str:
    """Return the text of a file; it is empty if there is none. Raises `BenchmarkFailed` if it cannot be read."""
    try:
        return file.read_text() if file.exists() else ""
    except (OSError, ValueError) as error:
        raise BenchmarkFailed(f"{file}: it cannot be read") from error


def publish(section: Section, history: Path | None, circumstances: Circumstances) -> None:
    """Print a section, or put it into a history. Raises `BenchmarkFailed`."""
    if history is None:
        print(section.text)
    else:
        replace_files({history: render_history(read_text(history), [section], circumstances)})


def replace_files(texts: Mapping[Path, str]) -> None:
    """Write all files, then move them into place: an interruption leaves the old ones.

    Raises `BenchmarkFailed` if one cannot be written.
    """
    written: dict[Path, Path] = {}
    try:
        for file, text in texts.items():
            file.parent.mkdir(exist_ok=True)
            descriptor, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
            written[file] = Path(name)
            with open(descriptor, "w") as out:
                out.write(text)
            mode = file.stat().st_mode & 0o777 if file.exists() else 0o644
            written[file].chmod(mode)
        for file, new in written.items():
            os.replace(new, file)
    except OSError as error:
        raise BenchmarkFailed(f"{error.filename}: {error.strerror}") from error
    finally:
        for new in written.values():
            with suppress(FileNotFoundError):
                new.unlink()
