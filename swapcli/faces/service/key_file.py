"""The file of API keys: their digests, integrators, plans, and times of creation and revocation, but not the keys
themselves.

A file with any error yields no keys, only a description of the problem.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from swapcli.core.encoding.strict_json import parse_json_file
from swapcli.core.errors import InvalidOption
from swapcli.core.model.number_format import format_iso_time
from swapcli.core.records import NamedTuple
from swapcli.core.validation.field_reader import FieldReader
from swapcli.core.validation.values import MISSING, parse_json_integer
from swapcli.faces.service.key_plans import NO_PLAN, KeyPlan, parse_plan
from swapcli.interface.own_document import own_document
from swapcli.state.file_writing import write_file

if TYPE_CHECKING:
    from swapcli.interface.document_types import CreatedKeyJson, KeyJson, ListedKeyJson

MAX_NAME_CHARACTERS = 64
MAX_BYTES = 16 * 2**20
"""The largest file to read, with room for fifty thousand keys. Reading a device might never end."""

_FORMAT = "swap-keys/1"
_FORMAT_WITH_PLANS = "swap-keys/2"
"""The format of files with plans. Older programs, which would ignore plans, reject it."""
_MAX_TIME_S = 2**63 - 1
_OTHERS_WRITE = 0o022
_EVERYBODY_READS = 0o004
_HEX_DIGEST = re.compile(r"[0-9a-f]{64}")
_HEX_ID = re.compile(r"[0-9a-f]{8}")


class ApiKey(NamedTuple):
    """The public data of a key, without the key itself. `name` is the integrator's name. Times are in Unix seconds."""

    id: str
    name: str
    created_s: int
    revoked_s: int | None = None
    plan: KeyPlan = NO_PLAN

    @property
    def is_revoked(self) -> bool:
        """Whether the key is no longer accepted."""
        return self.revoked_s is not None

    def is_expired(self, now_s: float) -> bool:
        """Return whether the key's plan has expired at a Unix time."""
        return self.plan.expires_s is not None and now_s >= self.plan.expires_s

    @own_document
    def document(self) -> KeyJson:
        """Return a key's JSON for `swapcli keys`."""
        revoked = None if self.revoked_s is None else format_iso_time(self.revoked_s)
        created = format_iso_time(self.created_s)
        return {"id": self.id, "name": self.name, "created": created, "revoked": revoked, **self.plan.words()}


class CreatedKey(NamedTuple):
    """A new key with its record. The key cannot be shown again.

    `others` are the unrevoked keys with the same name. Only their ids distinguish them.
    """

    key: str
    record: ApiKey
    others: tuple[ApiKey, ...] = ()

    @own_document
    def document(self) -> CreatedKeyJson:
        """Return the JSON of `swapcli keys create`."""
        return {"key": self.key, **self.record.document()}


class KeyList(NamedTuple):
    """The keys in a file. `last_used_s` has the Unix times of their last recorded requests, by key id.

    `problem` says why `last_used_s` is unknown.
    """

    keys: tuple[ApiKey, ...]
    last_used_s: Mapping[str, int] = MappingProxyType({})
    problem: str | None = None

    def last_used(self, key: ApiKey) -> str | None:
        """Return when a key was last used, in UTC, as ISO 8601, or None if that is unknown."""
        used_s = self.last_used_s.get(key.id)
        return None if used_s is None else format_iso_time(used_s)

    @own_document
    def document(self) -> list[ListedKeyJson]:
        """Return the JSON of `swapcli keys list`."""
        return [{**each.document(), "lastUsed": self.last_used(each)} for each in self.keys]


class KeyRecord(NamedTuple):
    """An entry of the file."""

    key: ApiKey
    digest: bytes


class KeyFileState(NamedTuple):
    """The content of one version of the file.

    `problem` says why the file cannot be used, and `warning` describes a lesser problem. `is_untrusted` is true if
    other users may have written it.
    """

    version: tuple[int, ...] | None
    records: tuple[KeyRecord, ...] = ()
    problem: str | None = None
    warning: str | None = None
    is_untrusted: bool = False


class KeyFileCopy(Protocol):
    """A copy of the last good version of a key file, where several processes can find it."""

    def write(self, path: str, content: bytes) -> None:
        """Replace the copy."""
        ...

    def read(self, path: str) -> bytes:
        """Return the copy of the file at `path`, or empty bytes if there is none."""
        ...


class KeyLookup:
    """A lookup of API keys. This base class has no keys. `path` is the path of the key file."""

    path: Path | None = None

    @property
    def problem(self) -> str | None:
        """The file's current problem, or None if it is valid."""
        return None

    def find(self, key: str) -> ApiKey | None:
        """Return the record of a key, or None if the key is unknown or revoked. The key may have expired."""
        del key
        return None

    def share(self, copy: KeyFileCopy) -> None:
        """Share the last good version of the file with other processes, because a new process may not have seen it."""


def file_version(path: Path) -> tuple[int, ...] | None:
    """Return a value that changes whenever the file is replaced, or None if there is no file."""
    try:
        return _stamp(os.stat(path))
    except OSError:
        return None


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    return status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_mode


def read_key_file(path: Path, networks: Callable[[], Collection[str]]) -> KeyFileState:
    """Read the file. A missing file has no keys. `networks` returns the names allowed in plans."""
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            version, text = _stamp(status), file.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return KeyFileState(None)
    except OSError as error:
        return KeyFileState(file_version(path), problem=f"cannot be read: {error.strerror}")
    mode = status.st_mode if os.name == "posix" else 0
    if mode & _OTHERS_WRITE:
        problem = "other users may write to it, so its keys cannot be trusted; run chmod 600"
        return KeyFileState(version, problem=problem, is_untrusted=True)
    warning = "every user of this machine can read it; run chmod 600" if mode & _EVERYBODY_READS else None
    return parse_key_file(text, networks)._replace(version=version, warning=warning)


def parse_key_file(text: bytes, networks: Callable[[], Collection[str]]) -> KeyFileState:
    """Parse the content of the file. The returned state has no file version."""
    if len(text) > MAX_BYTES:
        return KeyFileState(None, problem=f"is larger than {MAX_BYTES // 2**20} MiB")
    try:
        return KeyFileState(None, _parse_records(text, networks))
    except InvalidOption as error:
        return KeyFileState(None, problem=f"{error.message}; {error.hint}")
    except ValueError:
        return KeyFileState(None, problem=f"is not a key file in the format {_FORMAT} or {_FORMAT_WITH_PLANS}")


def _parse_records(text: bytes, networks: Callable[[], Collection[str]]) -> tuple[KeyRecord, ...]:
    fields = FieldReader(parse_json_file(text))
    fields.choice("format", (_FORMAT, _FORMAT_WITH_PLANS))
    records = tuple(_parse_record(record, networks) for record in fields.objects("keys"))
    if len({record.key.id for record in records}) < len(records):
        raise ValueError("an id is listed twice")
    if len({record.digest for record in records}) < len(records):
        raise ValueError("a key is listed twice")
    return records


def _parse_record(fields: FieldReader, networks: Callable[[], Collection[str]]) -> KeyRecord:
    id_, name, digest = fields.text("id"), fields.text("name"), fields.text("sha256")
    if not (_HEX_ID.fullmatch(id_) and _HEX_DIGEST.fullmatch(digest) and name == name.strip() and is_valid_name(name)):
        raise ValueError("the id, name or digest is not valid")
    created_s = fields.read("created", parse_json_integer, 0, _MAX_TIME_S)
    # Null means that the key is valid; the field must not be absent.
    is_revoked = fields.values.get("revoked", MISSING) is not None
    revoked_s = fields.read("revoked", parse_json_integer, 0, _MAX_TIME_S) if is_revoked else None
    plan = NO_PLAN
    if fields.has("plan"):
        try:
            plan = parse_plan(fields.nested("plan").values, networks, now_s=None)
        except InvalidOption as error:
            error.place = f"the plan of key {id_}"
            raise
    return KeyRecord(ApiKey(id_, name, created_s, revoked_s, plan), bytes.fromhex(digest))


def is_valid_name(name: str) -> bool:
    """Return whether a name is printable and short enough for one line."""
    return 1 <= len(name) <= MAX_NAME_CHARACTERS and name.isprintable()


def write_key_file(path: Path, records: Sequence[KeyRecord]) -> None:
    """Write the file durably: readers see the old or the new version, even after a power failure."""
    write_file(str(path), encode_key_file(records), mode=0o600, durable=True)


def encode_key_file(records: Sequence[KeyRecord]) -> bytes:
    """Return the content of the file."""
    entries = [_entry(*each) for each in records]
    form = _FORMAT_WITH_PLANS if any("plan" in each for each in entries) else _FORMAT
    return (json.dumps({"format": form, "keys": entries}, indent=1) + "\n").encode()


def _entry(key: ApiKey, digest: bytes) -> dict[str, object]:
    entry = {
        "id": key.id,
        "name": key.name,
        "sha256": digest.hex(),
        "created": key.created_s,
        "revoked": key.revoked_s,
    }
    plan = {name: value for name, value in key.plan.words().items() if value is not None}
    return entry | {"plan": plan} if plan else entry


@contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Hold a lock that excludes other processes on this machine. It is released if the process ends."""
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
