"""The file of API keys: their digests, integrators, and times of creation and revocation. It contains no key.

A file with any error yields no keys at all, only the problem.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

MAX_NAME_CHARACTERS = 64

_FORMAT = "swap-keys/1"
_OTHERS_WRITE = 0o022
_HEX_DIGEST = re.compile(r"[0-9a-f]{64}")
_HEX_ID = re.compile(r"[0-9a-f]{8}")


class ApiKey(NamedTuple):
    """A key as it may be shown, without the key itself. `name` is the integrator's; times are Unix seconds."""

    id: str
    name: str
    created_s: int
    revoked_s: int | None = None

    @property
    def is_revoked(self) -> bool:
        """Whether the key is no longer accepted."""
        return self.revoked_s is not None


class KeyRecord(NamedTuple):
    """An entry of the file."""

    key: ApiKey
    digest: bytes


class KeyFileState(NamedTuple):
    """The content of one version of the file. `problem` says why it cannot be used."""

    version: tuple[int, ...] | None
    records: tuple[KeyRecord, ...] = ()
    problem: str | None = None


def file_version(path: Path) -> tuple[int, ...] | None:
    """Return a value that changes whenever the file is replaced; None if there is no file."""
    try:
        return _stamp(os.stat(path))
    except OSError:
        return None


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    return status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_mode


def read_key_file(path: Path) -> KeyFileState:
    """Read the file. A missing file has no keys."""
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            version, text = _stamp(status), file.read()
    except FileNotFoundError:
        return KeyFileState(None)
    except OSError as error:
        return KeyFileState(file_version(path), problem=f"cannot be read: {error.strerror}")
    if os.name == "posix" and status.st_mode & _OTHERS_WRITE:
        return KeyFileState(
            version, problem="other users may write to it, so its keys cannot be trusted; run chmod 600"
        )
    try:
        return KeyFileState(version, _parse(text))
    except (ValueError, KeyError, TypeError, RecursionError):
        return KeyFileState(version, problem=f"is not a file of keys in the form {_FORMAT}")


def _parse(text: bytes) -> tuple[KeyRecord, ...]:
    document = json.loads(text)
    if document["format"] != _FORMAT:
        raise ValueError
    records = tuple(_parse_record(entry) for entry in document["keys"])
    for values in ({each.key.id for each in records}, {each.digest for each in records}):
        if len(values) < len(records):
            raise ValueError
    return records


def _parse_record(entry: dict[str, object]) -> KeyRecord:
    id_, name, digest = (entry[field] for field in ("id", "name", "sha256"))
    created_s, revoked_s = _parse_time(entry["created"]), entry["revoked"]
    if not (isinstance(id_, str) and isinstance(name, str) and isinstance(digest, str)):
        raise ValueError
    if (
        not _HEX_ID.fullmatch(id_)
        or not _HEX_DIGEST.fullmatch(digest)
        or name != name.strip()
        or not is_valid_name(name)
    ):
        raise ValueError
    return KeyRecord(
        ApiKey(id_, name, created_s, None if revoked_s is None else _parse_time(revoked_s)), bytes.fromhex(digest)
    )


def _parse_time(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError
    return value


def is_valid_name(name: str) -> bool:
    """Return whether a name is printable and short enough for one line."""
    return 1 <= len(name) <= MAX_NAME_CHARACTERS and name.isprintable()


def write_key_file(path: Path, records: Sequence[KeyRecord]) -> None:
    """Replace the file atomically and durably: readers see the old or the new one, even after a power failure."""
    entries = [
        {"id": k.id, "name": k.name, "sha256": digest.hex(), "created": k.created_s, "revoked": k.revoked_s}
        for k, digest in records
    ]
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(handle, "w", encoding="utf-8") as file:
            json.dump({"format": _FORMAT, "keys": entries}, file, indent=1)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Make the renaming durable, on systems where folders can be opened."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Hold a lock between processes on this machine. It is released when the process ends."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
