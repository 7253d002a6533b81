"""API keys: shown once, stored as digests, revoked immediately.

The file contains only the SHA-256 hash of each key. Keys are 256 random bits, so a plain hash withstands brute force.
The time of a dictionary lookup by digest reveals nothing: clients cannot choose digests, and no part of a digest leads
back to a key.

If the file is damaged or missing while a service runs, the last good version stays in force. If other users may write
to the file, no key is accepted, because they may have added keys or removed a revocation.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from base64 import b32encode
from collections.abc import Callable, Collection, Iterator, Mapping, MutableSequence, Sequence
from contextlib import contextmanager
from pathlib import Path

from swapcli.core.encoding.disk_errors import write_error
from swapcli.core.errors import ConfigError, InputOutputError, InvalidOption, UpstreamError
from swapcli.faces.service.key_file import (
    MAX_NAME_CHARACTERS,
    ApiKey,
    CreatedKey,
    KeyFileCopy,
    KeyFileState,
    KeyList,
    KeyLookup,
    KeyRecord,
    encode_key_file,
    file_version,
    is_valid_name,
    lock_file,
    parse_key_file,
    read_key_file,
    write_key_file,
)
from swapcli.faces.service.key_plans import DAY_S, parse_date, parse_plan
from swapcli.faces.service.key_usage import KEPT_DAYS, KeyUsage, UsageFile, UsageTable, usage_of

PREFIX = "swk_"

_KEY_BYTES = 32
_ID_BYTES = 4
_MAX_KEY_CHARACTERS = 256
_USAGE_DAYS = 30


class KeyStore(KeyLookup):
    """The keys in a file that several processes may use at once. A missing file has no keys.

    Plans may contain the names of `networks`, by default those in the user's settings. A service with the setting
    service.state_url stores the usage of keys at that URL. Otherwise it is stored next to the file.
    """

    def __init__(
        self,
        path: Path,
        *,
        networks: Collection[str] | None = None,
        state_url: str | None = None,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self.path: Path = path
        self._state_url = state_url
        self._networks, self._now_s = networks, now_s
        self._state = KeyFileState(version=())
        self._valid_keys: Mapping[bytes, ApiKey] = {}
        self._copy: KeyFileCopy | None = None

    def create(
        self,
        name: str,
        *,
        limit: str | None = None,
        streams: int | str | None = None,
        networks: Sequence[str] | str | None = None,
        quota: str | None = None,
        expires: str | None = None,
    ) -> CreatedKey:
        """Create a key for the integrator called `name`, and return it. It cannot be shown again.

        The other arguments are the key's plan, as in `limit="5000/min", streams=10, networks=["base"],
        quota="1M/month", expires="2027-01-01"`. An integrator may have several keys, so that a new key can be
        introduced before the old one is revoked. Raises `InvalidOption` for an invalid name or plan, `ConfigError` if
        the file cannot be used.
        """
        name = _parse_name(name)
        parts = {"limit": limit, "streams": streams, "networks": networks, "quota": quota, "expires": expires}
        now_s = self._now_s()
        plan = parse_plan(parts, self._network_names, now_s)
        key = PREFIX + b32encode(secrets.token_bytes(_KEY_BYTES)).decode().rstrip("=").lower()
        with self._edit() as records:
            taken = {each.key.id for each in records}
            others = tuple(each.key for each in records if each.key.name == name and not each.key.is_revoked)
            record = ApiKey(_new_id(taken), name, int(now_s), plan=plan)
            records.append(KeyRecord(record, _digest(key)))
        return CreatedKey(key, record, others)

    def change(
        self,
        id_or_name: str,
        *,
        limit: str | None = None,
        streams: int | str | None = None,
        networks: Sequence[str] | str | None = None,
        quota: str | None = None,
        expires: str | None = None,
    ) -> ApiKey:
        """Change the plan of a key and return its record. None leaves a part unchanged, and "none" removes it.

        Raises the same errors as `create` and `revoke`. Raises `InvalidOption` also for a revoked key, and if nothing
        is to be changed.
        """
        parts = {"limit": limit, "streams": streams, "networks": networks, "quota": quota, "expires": expires}
        if all(each is None for each in parts.values()):
            raise InvalidOption("nothing to change", hint=f"set one of {', '.join(parts)}")
        with self._edit() as records:
            index = _find_index(id_or_name, [each.key for each in records])
            key, digest = records[index]
            if key.is_revoked:
                raise InvalidOption(f"key {key.id} is revoked", hint="create a new key with swapcli keys create")
            plan = parse_plan(parts, self._network_names, self._now_s(), key.plan)
            records[index] = KeyRecord(key._replace(plan=plan), digest)
        return records[index].key

    def list(self) -> KeyList:
        """Return all keys with their last use, including revoked ones, in order of creation. Raises `ConfigError`."""
        keys = tuple(each.key for each in self._read().records)
        try:
            counts = self._read_usage(0)
        except (ConfigError, UpstreamError) as error:
            return KeyList(keys, problem=error.message)
        return KeyList(keys, {key_id: each.last_s for (_, key_id), each in sorted(counts.items()) if each.last_s})

    def usage(self, id_or_name: str | None = None, *, since: str | None = None) -> KeyUsage:
        """Return the requests, rejections and CPU seconds by key and day, for one key or all.

        `since` is the first UTC day, such as "2027-01-01"; the default is 30 days ago. Raises `InvalidOption` for any
        other text, the same errors as `revoke`, and `UpstreamError` if the server that stores the usage does not
        respond.
        """
        today = int(self._now_s() // DAY_S)
        since_day = today - _USAGE_DAYS if since is None else parse_date("since", since) // DAY_S
        keys = [each.key for each in self._read().records]
        key_id = None if id_or_name is None else keys[_find_index(id_or_name, keys)].id
        names = {each.id: each.name for each in keys}
        return usage_of(self._read_usage(since_day).items(), names, key_id, since_day)

    def _read_usage(self, since_day: int) -> UsageTable:
        if self._state_url is None:
            return UsageFile(self.path).read(since_day)
        from swapcli.faces.service.redis_state import read_usage
        from swapcli.state.feed.redis_client import parse_redis_url

        today = int(self._now_s() // DAY_S)
        server = parse_redis_url(self._state_url, "service.state_url")
        return read_usage(server, range(max(since_day, today - KEPT_DAYS), today + 1))

    def revoke(self, id_or_name: str) -> ApiKey:
        """Revoke a key and return its record. A key that is already revoked keeps its time of revocation.

        Raises `InvalidOption` if there is no such key, or if several have the name, and `ConfigError`.
        """
        with self._edit() as records:
            index = _find_index(id_or_name, [each.key for each in records])
            key: ApiKey = records[index].key
            if not key.is_revoked:
                key = key._replace(revoked_s=int(self._now_s()))
                records[index] = KeyRecord(key, records[index].digest)
        return key

    def find(self, key: str) -> ApiKey | None:
        """Return the record of a key, or None if the key is unknown or revoked. The key may have expired.

        The file is read again if it has changed.
        """
        self._refresh()
        return self._valid_keys.get(_digest(key[:_MAX_KEY_CHARACTERS]))

    @property
    def problem(self) -> str | None:
        """The file's current problem, or None if it is valid."""
        self._refresh()
        problem = self._state.problem
        if problem is None or self._state.is_untrusted:
            return problem or self._state.warning
        return f"{problem}; its last valid version stays in effect"

    def check(self) -> None:
        """Raise `ConfigError` if the file is invalid. A service must not start with an invalid file."""
        self._read()
        self._refresh()

    def check_usable(self) -> None:
        """Raise `ConfigError` if no client has a valid key. A service that requires keys must not start with such a
        file."""
        records, now_s = self._read().records, self._now_s()
        if all(each.key.is_revoked or each.key.is_expired(now_s) for each in records):
            problem = f"service.require_keys is set, but {self.path} has no valid API key"
            raise ConfigError(problem, hint=f"swapcli keys create NAME --keys-file {self.path}")

    def share(self, copy: KeyFileCopy) -> None:
        """Same as `KeyLookup.share`."""
        self._copy = copy

    def _read(self, path: Path | None = None) -> KeyFileState:
        """Return the current content of the file. Raises `ConfigError` if it is invalid."""
        state = read_key_file(path or self.path, self._network_names)
        if state.problem:
            raise ConfigError(f"{self.path}: {state.problem}", hint="restore the file, or use a different file")
        return state

    def _refresh(self) -> None:
        """Read the file if it has changed. If it is damaged, the keys in the last good version stay valid."""
        if file_version(self.path) == self._state.version:
            return
        state = read_key_file(self.path, self._network_names)
        if state.version is None and self._state.version:
            state = state._replace(problem="is missing")
        self._state, records = state._replace(records=()), state.records
        if self._copy is not None and not state.is_untrusted:
            if state.problem is None:
                self._copy.write(str(self.path), encode_key_file(records))
            else:
                records = parse_key_file(self._copy.read(str(self.path)), self._network_names).records
        if records or state.problem is None or state.is_untrusted:
            self._valid_keys = {digest: key for key, digest in records if not key.is_revoked}

    def _network_names(self) -> Collection[str]:
        if self._networks is None:
            from swapcli.quoting.config import load_user_settings, network_names_from

            self._networks = network_names_from(load_user_settings({}).settings, everything=True)
        return self._networks

    @contextmanager
    def _edit(self) -> Iterator[MutableSequence[KeyRecord]]:
        """Provide the records for changes under the lock; write them when the context ends."""
        try:
            path = Path(os.path.realpath(self.path))
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with lock_file(path.with_name(path.name + ".lock")):
                records = [*self._read(path).records]
                yield records
                write_key_file(path, records)
        except OSError as error:
            failure = write_error(str(self.path), error)
            if isinstance(failure, InputOutputError):
                raise failure from None
            raise ConfigError(f"{self.path}: {error.strerror or error}", hint=failure.hint) from None


def _new_id(taken: set[str]) -> str:
    while (fresh := secrets.token_hex(_ID_BYTES)) in taken:
        continue
    return fresh


def _parse_name(name: str) -> str:
    name = name.strip()
    if not is_valid_name(name):
        raise InvalidOption(
            f"a name must have 1 to {MAX_NAME_CHARACTERS} printable characters",
            hint="give the name of the integrator who gets the key",
        )
    return name


def _find_index(id_or_name: str, keys: Sequence[ApiKey]) -> int:
    """Return the index of the key with an id, or of the only unrevoked key with a name."""
    by_id = [index for index, key in enumerate(keys) if key.id == id_or_name]
    by_name = [index for index, key in enumerate(keys) if key.name == id_or_name]
    matches = by_id or [index for index in by_name if not keys[index].is_revoked] or by_name[-1:]
    if len(matches) > 1:
        ids = [keys[index].id for index in matches]
        raise InvalidOption(
            f'"{id_or_name}" has {len(ids)} keys: {", ".join(ids)}', hint="give its id instead", details={"ids": ids}
        )
    if not matches:
        raise InvalidOption(f'no key with the id or name "{id_or_name}"', hint="swapcli keys list shows them")
    return matches[0]


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode(errors="surrogatepass")).digest()
