"""API keys: shown once, stored as digests, revoked immediately.

The file contains only the SHA-256 of each key. Keys are 256 random bits, so a plain hash withstands brute force. If the
file has any error, no key is accepted, even if an earlier version of it was valid.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import time
from base64 import b32encode
from collections.abc import Callable, Iterator, MutableSequence, Sequence
from contextlib import contextmanager
from pathlib import Path

from swapcli.core.encoding.disk_errors import write_error
from swapcli.core.errors import ConfigError, InputOutputError, InvalidOption
from swapcli.faces.service.key_file import (
    MAX_NAME_CHARACTERS,
    ApiKey,
    CreatedKey,
    KeyFileState,
    KeyList,
    KeyRecord,
    file_version,
    is_valid_name,
    lock_file,
    read_key_file,
    write_key_file,
)

PREFIX = "swk_"

_KEY_BYTES = 32
_ID_BYTES = 4
_MAX_KEY_CHARACTERS = 256


class KeyStore:
    """The keys in a file that several processes may use at once. A missing file has no keys."""

    def __init__(self, path: Path, *, now_s: Callable[[], float] = time.time) -> None:
        self._path = path
        self._now_s = now_s
        self._state = KeyFileState(version=())

    def create(self, name: str) -> CreatedKey:
        """Create a key for the integrator called `name`, and return it. It cannot be shown again.

        An integrator may have several keys, so that a key can be replaced before the old one is revoked. Raises
        `InvalidOption` for an invalid name, `ConfigError` if the file cannot be used.
        """
        name = _parse_name(name)
        key = PREFIX + b32encode(secrets.token_bytes(_KEY_BYTES)).decode().rstrip("=").lower()
        with self._edit() as records:
            taken = {each.key.id for each in records}
            record = ApiKey(_new_id(taken), name, int(self._now_s()))
            records.append(KeyRecord(record, _digest(key)))
        return CreatedKey(key, record)

    def list(self) -> KeyList:
        """Return all keys, including revoked ones, in order of creation. Raises `ConfigError`."""
        return KeyList(tuple(each.key for each in self._require_records()))

    def revoke(self, id_or_name: str) -> ApiKey:
        """Revoke a key and return its record. A key that was revoked before keeps its time.

        Raises `InvalidOption` if there is no such key, or several with the name; `ConfigError`.
        """
        with self._edit() as records:
            index = _find_index(id_or_name, [each.key for each in records])
            key: ApiKey = records[index].key
            if not key.is_revoked:
                key = key._replace(revoked_s=int(self._now_s()))
                records[index] = KeyRecord(key, records[index].digest)
        return key

    def find(self, key: str) -> ApiKey | None:
        """Return the record of a key; None if it is unknown or revoked, or the file is invalid.

        All digests are compared in constant time. The file is read again if it has changed.
        """
        digest, match = _digest(key[:_MAX_KEY_CHARACTERS]), None
        for each in self._current().records:
            if hmac.compare_digest(each.digest, digest) and not each.key.is_revoked:
                match = each.key
        return match

    @property
    def problem(self) -> str | None:
        """The reason why no key is accepted at present; None if the file is valid."""
        return self._current().problem

    def check(self) -> None:
        """Raise `ConfigError` if the file is invalid. A service must not start with it."""
        self._require_records()

    def _require_records(self) -> tuple[KeyRecord, ...]:
        state = self._current()
        if state.problem:
            raise ConfigError(f"{self._path}: {state.problem}", hint="restore the file or make new keys in another one")
        return state.records

    def _current(self) -> KeyFileState:
        version = file_version(self._path)
        if version != self._state.version:
            self._state = read_key_file(self._path)
        return self._state

    @contextmanager
    def _edit(self) -> Iterator[MutableSequence[KeyRecord]]:
        """Provide the records for changes under the lock; write them when the block ends."""
        try:
            path = Path(os.path.realpath(self._path))
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with lock_file(path.with_name(path.name + ".lock")):
                self._state = read_key_file(path)
                records = [*self._require_records()]
                yield records
                write_key_file(path, records)
        except OSError as error:
            failure = write_error(str(self._path), error)
            if isinstance(failure, InputOutputError):
                raise failure from None
            raise ConfigError(f"{self._path}: {error.strerror or error}", hint=failure.hint) from None


def _new_id(taken: set[str]) -> str:
    while (fresh := secrets.token_hex(_ID_BYTES)) in taken:
        continue
    return fresh


def _parse_name(name: str) -> str:
    name = name.strip()
    if not is_valid_name(name):
        raise InvalidOption(
            f"a name must have 1 to {MAX_NAME_CHARACTERS} printable characters",
            hint="name the integrator who receives the key",
        )
    return name


def _find_index(id_or_name: str, keys: Sequence[ApiKey]) -> int:
    """Return the index of the key with an id, or of the only key with a name that is not revoked."""
    by_id = [index for index, key in enumerate(keys) if key.id == id_or_name]
    by_name = [index for index, key in enumerate(keys) if key.name == id_or_name]
    matches = by_id or [index for index in by_name if not keys[index].is_revoked] or by_name[-1:]
    if len(matches) > 1:
        ids = [keys[index].id for index in matches]
        raise InvalidOption(
            f'"{id_or_name}" has {len(ids)} keys: {", ".join(ids)}', hint="give the id of one", details={"ids": ids}
        )
    if not matches:
        raise InvalidOption(f'no key with the id or name "{id_or_name}"', hint="swapcli keys list shows them")
    return matches[0]


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode(errors="surrogatepass")).digest()
