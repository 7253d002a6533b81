"""API keys: made once, kept as digests, revoked at once.

The file holds only the SHA-256 of each key. Keys are 256 random bits, so a plain hash is enough: nobody can try them
all. A file that cannot be read in full accepts no key, also where an earlier state of it was fine.
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

from swapcli.errors import ConfigError, InvalidOption
from swapcli.service.key_file import (
    MAX_NAME_CHARACTERS,
    ApiKey,
    KeyFileState,
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
    """The keys in a file, which several processes may use at once. A file that does not exist holds no keys."""

    def __init__(self, path: Path, *, now_s: Callable[[], float] = time.time) -> None:
        self._path = path
        self._now_s = now_s
        self._state = KeyFileState(version=())

    def create(self, name: str) -> str:
        """A new key for the integrator called `name`. This is the only time that it can be seen.

        One integrator may hold several, so that a key can be replaced before the old one is revoked. Raises
        `InvalidOption` for a name that cannot be shown on a line, `ConfigError` where the file cannot be used.
        """
        name = _parse_name(name)
        key = PREFIX + b32encode(secrets.token_bytes(_KEY_BYTES)).decode().rstrip("=").lower()
        with self._edit() as kept:
            taken = {each.key.id for each in kept}
            kept.append(KeyRecord(ApiKey(_new_id(taken), name, int(self._now_s())), _digest(key)))
        return key

    def list(self) -> list[ApiKey]:
        """All keys, revoked ones too, in the order of their making. Raises `ConfigError`."""
        return [each.key for each in self._require_records()]

    def revoke(self, id_or_name: str) -> ApiKey:
        """The key as it is once it is no longer accepted; one that was revoked before stays as it was.

        Raises `InvalidOption` where there is no such key or where a name has several, `ConfigError`.
        """
        with self._edit() as kept:
            place = _find_index(id_or_name, [each.key for each in kept])
            key: ApiKey = kept[place].key
            if not key.is_revoked:
                key = key._replace(revoked_s=int(self._now_s()))
                kept[place] = KeyRecord(key, kept[place].digest)
        return key

    def find(self, key: str) -> ApiKey | None:
        """What is known of a key that somebody presents; None where it is unknown, revoked, or the file is broken.

        Every digest is compared in full, so that the time taken tells nothing. Reads the file anew when it changed.
        """
        digest, found = _digest(key[:_MAX_KEY_CHARACTERS]), None
        for each in self._current().records:
            if hmac.compare_digest(each.digest, digest) and not each.key.is_revoked:
                found = each.key
        return found

    @property
    def problem(self) -> str | None:
        """Why no key is accepted at present, None where the file is fine."""
        return self._current().problem

    def check(self) -> None:
        """Raises `ConfigError` where the file is broken: a service should not start on it."""
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
        """The lines of the file, to be changed while no other process changes them; written when the block ends."""
        try:
            path = Path(os.path.realpath(self._path))
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with lock_file(path.with_name(path.name + ".lock")):
                self._state = read_key_file(path)
                kept = [*self._require_records()]
                yield kept
                write_key_file(path, kept)
        except OSError as error:
            raise ConfigError(f"{self._path}: {error.strerror or error}") from None


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
    """Where the key is that an id, or the name of its only holder that is not revoked, tells."""
    by_id = [place for place, key in enumerate(keys) if key.id == id_or_name]
    named = [place for place, key in enumerate(keys) if key.name == id_or_name]
    found = by_id or [place for place in named if not keys[place].is_revoked] or named[-1:]
    if len(found) > 1:
        ids = [keys[place].id for place in found]
        raise InvalidOption(
            f'"{id_or_name}" has {len(ids)} keys: {", ".join(ids)}', hint="give the id of one", details={"ids": ids}
        )
    if not found:
        raise InvalidOption(f'no key with the id or name "{id_or_name}"', hint="swapcli keys list shows them")
    return found[0]


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode(errors="surrogatepass")).digest()
