"""API keys: only digests are stored, concurrent changes are not lost, revoked keys and invalid files give no access."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import stat
import string
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import ConfigError, InputOutputError, InvalidOption
from swapcli.faces.service.key_file import MAX_NAME_CHARACTERS
from swapcli.faces.service.keys import PREFIX, KeyStore

names = st.text(max_size=80)
good_names = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=MAX_NAME_CHARACTERS)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "secrets" / "keys.json"


def owner(store: KeyStore, key: str) -> str | None:
    """The name of the integrator whose key this is; None if the key is not accepted."""
    record = store.find(key)
    return record.name if record else None


@pytest.fixture
def store(path: Path) -> KeyStore:
    return KeyStore(path, now_s=lambda: 1_700_000_000.9)


def test_a_key_carries_its_prefix_and_256_random_bits(store: KeyStore) -> None:
    keys = [store.create(f"integrator {i}").key for i in range(32)]
    secrets_ = [key.removeprefix(PREFIX) for key in keys]
    assert all(key.startswith(PREFIX) for key in keys)
    assert all(len(secret) == 52 and set(secret) <= set(string.ascii_lowercase + "234567") for secret in secrets_)
    assert len({secret[i] for secret in secrets_ for i in range(51)}) == 32
    assert len(set(secrets_)) == 32


def test_a_new_key_is_valid_in_other_processes(path: Path, store: KeyStore) -> None:
    key = store.create("Ada's swaps").key
    assert owner(store, key) == "Ada's swaps"
    assert owner(KeyStore(path), key) == "Ada's swaps"


@given(noise=st.text(min_size=1, max_size=300))
def test_what_is_not_a_key_names_nobody(tmp_path_factory: pytest.TempPathFactory, noise: str) -> None:
    store = KeyStore(tmp_path_factory.mktemp("keys") / "keys.json")
    key = store.create("a").key
    for wrong in (noise, key + noise, noise + key, key[:-1], key.upper(), ""):
        assert owner(store, wrong) is None


def test_the_file_holds_digests_and_no_key(path: Path, store: KeyStore) -> None:
    key = store.create("a").key
    text = path.read_text()
    assert key not in text
    assert key.removeprefix(PREFIX)[:12] not in text
    assert json.loads(text)["keys"][0]["sha256"] == hashlib.sha256(key.encode()).hexdigest()


def test_the_list_tells_all_but_the_key(store: KeyStore) -> None:
    keys = [store.create(name).key for name in ("a", "b")]
    store.revoke("a")
    listed = store.list().keys
    assert [(each.name, each.created_s, each.revoked_s) for each in listed] == [
        ("a", 1_700_000_000, 1_700_000_000),
        ("b", 1_700_000_000, None),
    ]
    assert not any(key in repr(listed) for key in keys)


def test_nobody_else_can_read_what_was_made(path: Path, store: KeyStore) -> None:
    store.create("a")
    store.revoke("a")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert sorted(each.name for each in path.parent.iterdir()) == ["keys.json", "keys.json.lock"]


def test_a_folder_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    KeyStore(tmp_path / "keys.json").create("a")
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_a_revoked_key_fails_at_once_in_a_running_service(path: Path, store: KeyStore) -> None:
    running = KeyStore(path)
    for _ in range(50):
        key = store.create("a").key
        assert owner(running, key) == "a"
        store.revoke("a")
        assert owner(running, key) is None


def test_revoking_again_changes_nothing(path: Path) -> None:
    moments = iter([100.0, 200.0, 300.0])
    store = KeyStore(path, now_s=lambda: next(moments))
    store.create("a")
    assert store.revoke("a").revoked_s == 200
    assert store.revoke("a").revoked_s == 200


def test_of_two_keys_of_one_integrator_the_id_revokes_one(store: KeyStore) -> None:
    old, new = store.create("a").key, store.create("a").key
    with pytest.raises(InvalidOption, match="has 2 keys") as caught:
        store.revoke("a")
    assert caught.value.details["ids"] == [each.id for each in store.list().keys]
    store.revoke(store.list().keys[0].id)
    assert (owner(store, old), owner(store, new)) == (None, "a")
    store.revoke("a")
    assert owner(store, new) is None


def test_revoking_the_unknown_is_refused_and_changes_nothing(path: Path, store: KeyStore) -> None:
    key = store.create("a").key
    before = path.read_bytes()
    with pytest.raises(InvalidOption, match='no key with the id or name "b"'):
        store.revoke("b")
    assert path.read_bytes() == before
    assert owner(store, key) == "a"


@given(name=names)
def test_a_name_is_one_line_of_at_most_64_printable_characters(tmp_path: Path, name: str) -> None:
    store = KeyStore(tmp_path / "keys.json")
    stripped = name.strip()
    if 1 <= len(stripped) <= MAX_NAME_CHARACTERS and stripped.isprintable():
        assert owner(store, store.create(name).key) == stripped
    else:
        with pytest.raises(InvalidOption):
            store.create(name)


@given(names=st.lists(good_names, min_size=1, max_size=5, unique=True), data=st.data())
def test_only_the_keys_that_are_not_revoked_open_anything(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], data: st.DataObject
) -> None:
    store = KeyStore(tmp_path_factory.mktemp("keys") / "keys.json")
    keys = {name: store.create(name).key for name in names}
    revoked = data.draw(st.sets(st.sampled_from(names)))
    for each in store.list().keys:
        if each.name in revoked:
            store.revoke(each.id)
    assert {name: owner(store, key) for name, key in keys.items()} == {
        name: None if name in revoked else name for name in names
    }


def test_every_digest_is_compared_whichever_key_is_given(store: KeyStore, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [store.create(str(i)).key for i in range(8)]
    compared: list[bytes] = []

    def counting(one: bytes, other: bytes) -> bool:
        compared.append(one)
        return one == other

    monkeypatch.setattr(hmac, "compare_digest", counting)
    for key in (keys[0], keys[7], "nobody's"):
        compared.clear()
        store.find(key)
        assert len(compared) == 8


def test_commands_at_the_same_time_lose_nothing(path: Path) -> None:
    script = "from pathlib import Path; from swapcli.faces.service.keys import KeyStore; import sys\n"
    script += f"s = KeyStore(Path({str(path)!r}))\n"
    script += "for i in range(5): print(s.create(sys.argv[1] + str(i)).key)"
    started = [
        subprocess.Popen([sys.executable, "-c", script, name], stdout=subprocess.PIPE, text=True) for name in "abc"
    ]
    keys = [line for process in started for line in process.communicate()[0].split()]
    assert len(keys) == 15
    assert {owner(KeyStore(path), key) for key in keys} == {f"{name}{i}" for name in "abc" for i in range(5)}


def test_threads_at_the_same_time_lose_nothing(path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = list(pool.map(lambda i: KeyStore(path).create(str(i)).key, range(40)))
    assert sorted(int(owner(KeyStore(path), key) or -1) for key in keys) == list(range(40))


BROKEN = {
    "empty": b"",
    "not JSON": b"{",
    "cut short": b'{"format": "swap-keys/1", "keys": [',
    "another format": b'{"format": "swap-keys/2", "keys": []}',
    "no keys": b'{"format": "swap-keys/1"}',
    "keys of another type": b'{"format": "swap-keys/1", "keys": {"a": 1}}',
    "a list": b"[]",
    "not UTF-8": b"\xff\xfe\xfa",
    "deep": b"[" * 100_000,
    "a key in place of its digest": b'{"format":"swap-keys/1","keys":[{"id":"00000000","name":"a","sha256":"swk_a",'
    b'"created":1,"revoked":null}]}',
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_an_invalid_file_fails_the_start_and_accepts_no_key(path: Path, store: KeyStore, content: bytes) -> None:
    key = store.create("a").key
    running = KeyStore(path)
    running.check()
    assert running.problem is None
    assert owner(running, key) == "a"
    good = path.read_bytes()
    path.write_bytes(content)
    assert owner(running, key) is None
    assert running.problem
    for refused in (running.check, running.list, lambda: running.create("b").key, lambda: running.revoke("a")):
        with pytest.raises(ConfigError, match=r"keys\.json"):
            refused()
    assert path.read_bytes() == content, "a file that is not understood is not overwritten"
    path.write_bytes(good)
    assert owner(running, key) == "a"


FIELDS = ("id", "name", "sha256", "created", "revoked")


@given(
    field=st.sampled_from(FIELDS),
    value=st.one_of(st.booleans(), st.integers(max_value=-1), st.floats(), st.just("x" * 70), st.lists(st.none())),
)
def test_a_line_with_one_wrong_field_breaks_the_file(tmp_path: Path, field: str, value: object) -> None:
    path = tmp_path / "keys.json"
    path.unlink(missing_ok=True)
    key = KeyStore(path).create("a").key
    document = json.loads(path.read_text())
    document["keys"][0][field] = value
    path.write_text(json.dumps(document))
    store = KeyStore(path)
    assert owner(store, key) is None
    assert store.problem


@pytest.mark.parametrize("field", ["id", "sha256"])
def test_two_lines_with_one_id_or_digest_break_the_file(path: Path, store: KeyStore, field: str) -> None:
    store.create("a")
    store.create("b")
    document = json.loads(path.read_text())
    document["keys"][1][field] = document["keys"][0][field]
    path.write_text(json.dumps(document))
    assert store.problem


def test_a_file_that_others_may_write_is_not_trusted(path: Path, store: KeyStore) -> None:
    key = store.create("a").key
    path.chmod(0o622)
    assert owner(store, key) is None
    assert "other users" in (store.problem or "")
    path.chmod(0o600)
    assert owner(store, key) == "a"


def test_a_file_that_goes_away_takes_its_keys_along(path: Path, store: KeyStore) -> None:
    key = store.create("a").key
    path.unlink()
    assert owner(store, key) is None
    assert store.list().keys == ()


def test_no_file_is_no_keys_until_there_is_one(path: Path, store: KeyStore) -> None:
    running = KeyStore(path)
    running.check()
    assert running.list().keys == ()
    assert owner(running, store.create("a").key) == "a"


def test_a_path_that_cannot_hold_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "file" / "keys.json"):
        with pytest.raises(ConfigError, match=str(path)):
            KeyStore(path).create("a")


def test_a_write_that_fails_leaves_the_old_file_and_no_other(
    path: Path, store: KeyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = store.create("a").key
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputOutputError, match="No space left"):
        store.create("b")
    assert path.read_bytes() == before
    assert sorted(each.name for each in path.parent.iterdir()) == ["keys.json", "keys.json.lock"]
    assert owner(store, key) == "a"
