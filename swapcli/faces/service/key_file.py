"""The file of API keys: their digests, integrators, and times of creation and revocation. It contains no key.

A file with any error yields no keys at all, only the problem.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from swapcli.core.encoding.strict_json import parse_json_file
from swapcli.core.model.number_format import format_time
from swapcli.core.records import NamedTuple
from swapcli.core.validation.field_reader import FieldReader
from swapcli.core.validation.values import MISSING, parse_json_integer
from swapcli.state.file_writing import write_file

if TYPE_CHECKING:
    from swapcli.interface.document_types import CreatedKeyJson, KeyJson

MAX_NAME_CHARACTERS = 64

_FORMAT = "swap-keys/1"
_MAX_BYTES = 16 * 2**20  # a hundred thousand keys; a device may have no end
_MAX_TIME_S = 2**63 - 1
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

    def document(self) -> KeyJson:
        """Return the JSON of a key in `swapcli keys`."""
        revoked = None if self.revoked_s is None else format_time(self.revoked_s)
        return {"id": self.id, "name": self.name, "created": format_time(self.created_s), "revoked": revoked}


class CreatedKey(NamedTuple):
    """A new key with its record. The key cannot be shown again."""

    key: str
    record: ApiKey

    def document(self) -> CreatedKeyJson:
        """Return the JSON of `swapcli keys create`."""
        return {"key": self.key, **self.record.document()}


class KeyList(NamedTuple):
    """The records of keys."""

    keys: tuple[ApiKey, ...]

    def document(self) -> list[KeyJson]:
        """Return the JSON of `swapcli keys list`."""
        return [each.document() for each in self.keys]


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
            version, text = _stamp(status), file.read(_MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return KeyFileState(None)
    except OSError as error:
        return KeyFileState(file_version(path), problem=f"cannot be read: {error.strerror}")
    if os.name == "posix" and status.st_mode & _OTHERS_WRITE:
        return KeyFileState(
            version, problem="other users may write to it, so its keys cannot be trusted; run chmod 600"
        )
    if len(text) > _MAX_BYTES:
        return KeyFileState(version, problem=f"is larger than {_MAX_BYTES // 2**20} MiB")
    try:
        return KeyFileState(version, _parse_records(text))
    except ValueError:
        return KeyFileState(version, problem=f"is not a file of keys in the form {_FORMAT}")


def _parse_records(text: bytes) -> tuple[KeyRecord, ...]:
    fields = FieldReader(parse_json_file(text))
    fields.choice("format", (_FORMAT,))
    records = tuple(_parse_record(record) for record in fields.objects("keys"))
    if len({record.key.id for record in records}) < len(records):
        raise ValueError("an id is listed twice")
    if len({record.digest for record in records}) < len(records):
        raise ValueError("a key is listed twice")
    return records


def _parse_record(fields: FieldReader) -> KeyRecord:
    id_, name, digest = fields.text("id"), fields.text("name"), fields.text("sha256")
    if not (_HEX_ID.fullmatch(id_) and _HEX_DIGEST.fullmatch(digest) and name == name.strip() and is_valid_name(name)):
        raise ValueError("the id, name or digest is not valid")
    created_s = fields.read("created", parse_json_integer, 0, _MAX_TIME_S)
    # Null says that the key is valid; the field may not be absent.
    is_revoked = fields.values.get("revoked", MISSING) is not None
    revoked_s = fields.read("revoked", parse_json_integer, 0, _MAX_TIME_S) if is_revoked else None
    return KeyRecord(ApiKey(id_, name, created_s, revoked_s), bytes.fromhex(digest))


def is_valid_name(name: str) -> bool:
    """Return whether a name is printable and short enough for one line."""
    return 1 <= len(name) <= MAX_NAME_CHARACTERS and name.isprintable()


def write_key_file(path: Path, records: Sequence[KeyRecord]) -> None:
    """Write the file durably: readers see the old or the new one, even after a power failure."""
    entries = [
        {"id": k.id, "name": k.name, "sha256": digest.hex(), "created": k.created_s, "revoked": k.revoked_s}
        for k, digest in records
    ]
    text = json.dumps({"format": _FORMAT, "keys": entries}, indent=1) + "\n"
    write_file(str(path), text.encode(), mode=0o600, durable=True)


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
