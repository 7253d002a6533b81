"""API keys: only digests are stored, concurrent changes are not lost, revoked keys and invalid files give no access."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import string
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import ConfigError, InputOutputError, InvalidOption
from swapcli.faces.service.key_file import MAX_NAME_CHARACTERS
from swapcli.faces.service.key_plans import KeyPlan, RequestRate
from swapcli.faces.service.keys import PREFIX, KeyStore
from swapcli.faces.service.worker_group import WorkerGroup

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
    (old, _, no_others), (new, _, others) = store.create("a"), store.create("a")
    assert (no_others, others) == ((), store.list().keys[:1])
    with pytest.raises(InvalidOption, match="has 2 keys") as caught:
        store.revoke("a")
    assert caught.value.details["ids"] == [each.id for each in store.list().keys]
    store.revoke(store.list().keys[0].id)
    assert (owner(store, old), owner(store, new)) == (None, "a")
    assert [each.id for each in store.create("a").others] == [store.list().keys[1].id]
    store.revoke(store.list().keys[1].id)
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
    "another format": b'{"format": "swap-keys/9", "keys": []}',
    "no keys": b'{"format": "swap-keys/1"}',
    "keys of a different type": b'{"format": "swap-keys/1", "keys": {"a": 1}}',
    "a list": b"[]",
    "not UTF-8": b"\xff\xfe\xfa",
    "deep": b"[" * 100_000,
    "a key in place of its digest": b'{"format":"swap-keys/1","keys":[{"id":"00000000","name":"a","sha256":"swk_a",'
    b'"created":1,"revoked":null}]}',
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_damaged_file_fails_the_start_and_leaves_the_last_good_one_in_force(
    path: Path, store: KeyStore, content: bytes
) -> None:
    key, revoked = store.create("a").key, store.create("r").key
    store.revoke("r")
    running = KeyStore(path)
    running.check()
    assert running.problem is None
    good = path.read_bytes()
    path.write_bytes(content)
    assert (owner(running, key), owner(running, revoked)) == ("a", None)
    assert "last valid version stays in effect" in (running.problem or "")
    assert owner(KeyStore(path), key) is None
    for refused in (running.check, running.list, lambda: running.create("b").key, lambda: running.revoke("a")):
        with pytest.raises(ConfigError, match=r"keys\.json"):
            refused()
    assert path.read_bytes() == content, "a file that is not understood is not overwritten"
    path.write_bytes(good)
    running.revoke("a")
    assert (owner(running, key), running.problem) == (None, None)


@given(position=st.integers(0, 10**6), byte=st.binary(min_size=1, max_size=1), is_cut=st.booleans())
def test_no_single_byte_locks_a_valid_key_out(tmp_path: Path, position: int, byte: bytes, is_cut: bool) -> None:
    path = tmp_path / "keys.json"
    path.unlink(missing_ok=True)
    key = KeyStore(path).create("a").key
    running, good = KeyStore(path), path.read_bytes()
    assert owner(running, key) == "a"
    at = position % len(good)
    path.write_bytes(good[:at] if is_cut else good[:at] + byte + good[at:])
    found = owner(running, key)
    assert found == "a" or running.problem is None, "only a change of the key's own record may"


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


LIMIT = 'limit: expected requests per period, such as 5000/min, not "5/mn"; the period is one of s, min, hour'
MISTAKES: tuple[tuple[dict[str, object], str], ...] = (
    ({"limit": "5/mn"}, LIMIT),
    ({"limit": 5}, "limit: expected requests per period, such as 5000/min, not 5;"),
    ({"limit": "0/s"}, "limit: expected 1 to 1,000,000 requests, not 0; to stop a key, revoke it"),
    ({"quota": "0/day"}, "quota: expected 1 to 1,000,000,000,000 requests, not 0; to stop a key, revoke it"),
    ({"quota": "1.5/day"}, "quota: expected requests per period"),
    (
        {"quota": "5/min"},
        'quota: expected requests per period, such as 1M/month, not "5/min"; the period is one of day',
    ),
    ({"streams": -1}, "streams: expected an integer from 0 to 100,000, not -1"),
    ({"streams": True}, "streams: expected an integer"),
    ({"networks": []}, "networks: expected network names, such as base,monad, not a list"),
    ({"networks": ["bsae"]}, 'networks: unknown network "bsae"; did you mean base?'),
    ({"expires": "2027-13-01"}, 'expires: expected a date such as 2027-01-01, not "2027-13-01"'),
    ({"expires": 5}, "expires: expected a date such as 2027-01-01, not 5"),
)


@pytest.mark.parametrize(("plan", "sentence"), MISTAKES)
def test_a_mistake_in_a_plan_is_one_sentence_in_the_library_and_in_the_file(
    path: Path, plan: dict[str, Any], sentence: str
) -> None:
    store = KeyStore(path, networks=("base", "monad"))
    with pytest.raises(InvalidOption) as caught:
        store.create("a", **plan)
    assert sentence in f"{caught.value.message}; {caught.value.hint}"
    created = store.create("a").record
    document = json.loads(path.read_text())
    document["keys"][0]["plan"] = plan
    path.write_text(json.dumps(document))
    assert f"the plan of key {created.id}: {sentence}" in (store.problem or "")


def test_a_part_of_a_plan_that_does_not_exist_is_named(path: Path, store: KeyStore) -> None:
    store.create("a")
    document = json.loads(path.read_text())
    document["keys"][0]["plan"] = {"limmit": "5/s"}
    path.write_text(json.dumps(document))
    assert '"limmit" is not part of a plan; did you mean limit?' in (store.problem or "")


def test_a_plan_is_stored_changed_and_taken_away(path: Path) -> None:
    store = KeyStore(path, networks=("base", "monad"), now_s=lambda: 1_700_000_000.0)
    key = store.create("a").key
    assert json.loads(path.read_text())["format"] == "swap-keys/1", "older programs read files without plans"
    store.change("a", limit="2.5k/min", quota="1M/month", networks="monad,base", expires="2027-01-01")
    assert json.loads(path.read_text())["format"] == "swap-keys/2", "older programs would ignore the plan"
    found = KeyStore(path, networks=("base", "monad")).find(key)
    assert found is not None
    assert found.plan == KeyPlan(
        RequestRate(2_500, "min"), None, ("base", "monad"), RequestRate(10**6, "month"), 1_798_761_600
    )
    assert (found.is_expired(1_798_761_599.9), found.is_expired(1_798_761_600)) == (False, True)
    store.change("a", limit="none", networks="none", quota="none", expires="none", streams=0)
    assert store.list().keys[0].plan == KeyPlan(streams=0)
    with pytest.raises(InvalidOption, match="in the past"):
        store.change("a", expires="2023-11-14")
    with pytest.raises(InvalidOption, match="nothing to change"):
        store.change("a")
    store.revoke("a")
    with pytest.raises(InvalidOption, match="is revoked"):
        store.change("a", streams=1)


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


def test_a_file_that_every_user_can_read_is_reported(path: Path, store: KeyStore) -> None:
    key = store.create("a").key
    path.chmod(0o644)
    assert "can read it" in (store.problem or "")
    store.check()
    assert owner(store, key) == "a"
    store.revoke("a")
    assert owner(store, key) is None, "its changes count all the same"


def test_a_file_that_goes_away_is_damaged(path: Path, store: KeyStore) -> None:
    key = store.create("a").key
    assert owner(store, key) == "a"
    path.unlink()
    assert owner(store, key) == "a"
    assert "is missing" in (store.problem or "")
    assert store.list().keys == ()
    store.create("b")
    assert owner(store, key) is None


def test_a_process_that_starts_anew_finds_the_last_good_version(path: Path, store: KeyStore) -> None:
    old = store.create("old").key
    forked, group = KeyStore(path), WorkerGroup(2)
    forked.check()
    other = KeyStore(path)
    for each in (forked, other):
        each.share(group.key_file)
    new = store.create("new").key
    store.revoke("old")
    assert (owner(other, old), owner(other, new)) == (None, "new")
    path.write_bytes(b"{")
    assert (owner(forked, old), owner(forked, new)) == (None, "new")
    path.write_bytes(group.key_file.read(str(path)))
    path.chmod(0o622)
    assert owner(forked, new) is None, "others may have written it"


def test_one_of_several_workers_reports_a_problem() -> None:
    group = WorkerGroup(2)
    assert [group.key_file.set_problem(each) for each in ("bad", "bad", None, None, "bad")] == [
        True, False, True, False, True
    ]  # fmt: skip


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
