"""The folder of a run: a journal of finished items, the proofs, and the report.

The journal has one line of JSON for the network, and one for each finished item. If a killed process left an incomplete
last line, it is dropped. Any other unreadable line is an error.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from swapcli.core.encoding.disk_errors import write_error
from swapcli.core.encoding.json_text import to_json
from swapcli.core.encoding.text import printable
from swapcli.core.errors import InvalidInput, InvalidOption
from swapcli.core.version import __version__
from swapcli.quoting.proving.proof_item import ProofItem, ProofStage, item_document, parse_item
from swapcli.state.file_lock import try_lock
from swapcli.state.file_writing import write_text_file

if TYPE_CHECKING:
    from swapcli.core.model.network import Network

JOURNAL: Final = "journal.jsonl"
REPORT_PAGE: Final = "report.html"
REPORT_JSON: Final = "report.json"
PROOFS: Final = "proofs"
_PROOF_SUFFIX: Final = ".json.gz"
_FORMAT: Final = "swapcli-prove-journal"
_VERSION: Final = 1
_MAX_BYTES: Final = 1 << 26  # size of a journal: thousands of times what a run writes; chosen
_HEADER: Final = b'{"format":'
_ITEM: Final = b'{"item":'
"""The beginning of each line for an item."""
_FRESH: Final = "start over with --fresh, or use a different folder"


class Journal:
    """The finished items of a run, by id, in a folder. Use `open_journal` to open it."""

    def __init__(self, folder: Path, file: BinaryIO, items: dict[tuple[ProofStage, str], ProofItem]) -> None:
        self.folder, self._file, self._items = folder, file, items

    @property
    def is_resumed(self) -> bool:
        """Whether the folder has finished items from an earlier run."""
        return bool(self._items)

    def find(self, stage: ProofStage, item_id: str) -> ProofItem | None:
        """Return a finished item, or None if there is none with this id."""
        return self._items.get((stage, item_id))

    def of(self, stage: ProofStage) -> tuple[ProofItem, ...]:
        """Return the finished items of a stage, in the order in which they were finished."""
        return tuple(item for item in self._items.values() if item.stage is stage)

    def add(self, item: ProofItem) -> None:
        """Add a finished item. Raises `InvalidInput`, `InputOutputError` if it cannot be written."""
        if not item.is_finished:
            return
        self._items[item.stage, item.id] = item
        self._write({"item": item_document(item)})

    def proof_file(self, name: str) -> Path:
        """Return the file for the proof of a quote."""
        return self.folder / PROOFS / f"{name}{_PROOF_SUFFIX}"

    def proof_files(self) -> list[Path]:
        """Return the proof files written so far, sorted by name."""
        return sorted((self.folder / PROOFS).glob(f"*{_PROOF_SUFFIX}"))

    def write_report(self, page: str, document: str) -> None:
        """Write the report as a page and as JSON. Raises `InvalidInput`, `InputOutputError`."""
        write_text_file(str(self.folder / REPORT_JSON), document)
        write_text_file(str(self.folder / REPORT_PAGE), page)

    def _write(self, line: dict[str, Any]) -> None:
        try:
            self._file.write(f"{json.dumps(line, separators=(',', ':'))}\n".encode())
            self._file.flush()
        except OSError as error:
            raise write_error(str(self.folder / JOURNAL), error) from None

    def begin(self, network: Network) -> None:
        """Write the journal's first line, which is about the network."""
        header = {"format": _FORMAT, "version": _VERSION, "swapcli": __version__, "network": network.name}
        self._write({**header, "chainId": str(network.chain_id)})


@contextmanager
def open_journal(folder: Path, network: Network, *, fresh: bool) -> Iterator[Journal]:
    """Open the journal in a folder, which is created if missing. `fresh` deletes earlier items.

    Raises `InvalidInput` if the folder cannot be written, or if the journal is damaged or belongs to another network or
    version of swapcli. Raises `InvalidOption` if another process uses it, and `InputOutputError`.
    """
    path = folder / JOURNAL
    try:
        (folder / PROOFS).mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        _check_writable(folder / PROOFS)
    except (OSError, ValueError) as error:
        raise write_error(str(getattr(error, "filename", None) or folder), error) from None
    with open(descriptor, "ab+") as file:
        if not try_lock(file):
            raise InvalidOption(
                f"another process is writing to {printable(str(folder))}", hint="wait until it has finished"
            )
        if fresh:
            _clear(folder, file)
        items = _read(path, file, network)
        journal = Journal(folder, file, items or {})
        if items is None:
            journal.begin(network)
        yield journal


def _check_writable(folder: Path) -> None:
    """Raise `OSError` if no file can be created in the folder."""
    trial = folder / f".{os.urandom(4).hex()}"
    trial.touch()
    trial.unlink()


def _clear(folder: Path, file: BinaryIO) -> None:
    """Delete the files of an earlier run, and no others."""
    file.truncate(0)
    for old in (folder / REPORT_PAGE, folder / REPORT_JSON, *(folder / PROOFS).glob(f"*{_PROOF_SUFFIX}")):
        with suppress(OSError):
            old.unlink()


def _read(path: Path, file: BinaryIO, network: Network) -> dict[tuple[ProofStage, str], ProofItem] | None:
    """Return the items of a journal; None for an empty one, which has no line for the network yet."""
    file.seek(0)
    content = file.read(_MAX_BYTES + 1)
    whole, _, torn = content.rpartition(b"\n")
    if len(content) > _MAX_BYTES:
        raise _damaged(path, "it is too large")
    if torn:
        if not torn.startswith((_ITEM if whole else _HEADER)[: len(torn)]):
            raise _damaged(path, "its last line is not a finished check")
        file.truncate(len(content) - len(torn))
    if not whole:
        return None
    first, *lines = whole.split(b"\n")
    _check_header(path, first, network)
    items = {}
    for number, line in enumerate(lines, start=2):
        try:
            document = json.loads(line)
            item = parse_item(document.get("item") if isinstance(document, dict) else None)
        except (ValueError, RecursionError):
            raise _damaged(path, f"line {number} is not a finished check") from None
        items[item.stage, item.id] = item
    return items


def _check_header(path: Path, line: bytes, network: Network) -> None:
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise _damaged(path, "its first line is not a journal header")
    if header.get("version") != _VERSION or header.get("swapcli") != __version__:
        other = printable(str(header.get("swapcli")))
        raise InvalidInput(f"{printable(str(path))} was written by swapcli {other}", hint=_FRESH)
    if header.get("network") != network.name or header.get("chainId") != str(network.chain_id):
        other = printable(str(header.get("network")))
        raise InvalidInput(f"{printable(str(path))} belongs to {other}, not to {network.name}", hint=_FRESH)


def _damaged(path: Path, problem: str) -> InvalidInput:
    return InvalidInput(
        f"{printable(str(path))} is damaged: {problem}", hint=_FRESH, details={"file": str(path), "problem": problem}
    )


def json_of(document: object) -> str:
    """Return the content of the report's JSON file."""
    return f"{to_json(document)}\n"
