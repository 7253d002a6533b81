"""`swapcli keys`: a key is seen once, its holder listed, and it can be revoked."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from swapcli.faces.service.keys import KeyStore
from tests.support.command import run_swapcli


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(tmp_path)}


def test_a_key_is_printed_once_and_only_its_digest_is_kept(env: dict[str, str], tmp_path: Path) -> None:
    made = run_swapcli("keys", "create", "Acme", env=env)
    file = tmp_path / "swapcli" / "keys.json"
    key = made.stdout.strip()
    assert (made.exit_code, made.stdout) == (0, f"{key}\n")
    assert "not shown again" in made.stderr
    assert str(file) in made.stderr
    assert key not in made.stderr + file.read_text() + run_swapcli("keys", "list", "--json", env=env).stdout
    record = KeyStore(file).find(key)
    assert record is not None
    assert record.name == "Acme"
    assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0


PLAN = {
    "limit": "5000/min",
    "streams": 3,
    "networks": ["base", "monad"],
    "quota": "1000000/month",
    "expires": "2099-01-01",
}
PLAN_OPTIONS = (
    "--limit", "5k/min", "--streams", "3", "--networks", "monad,base", "--quota", "1M/month", "--expires", "2099-01-01"
)  # fmt: skip


def test_keys_are_listed_in_every_form(env: dict[str, str]) -> None:
    made = run_swapcli("keys", "create", "Acme", *PLAN_OPTIONS, "--json", env=env).json
    assert list(made) == ["key", "id", "name", "created", *PLAN]
    assert {name: made[name] for name in PLAN} == PLAN
    listed = run_swapcli("keys", "list", "--json", env=env).json
    assert listed == [{name: made[name] for name in made if name != "key"}]
    for form in ("--format=plain", "--format=table"):
        rows = run_swapcli("keys", "list", form, env=env | {"COLUMNS": "200"}).stdout.splitlines()[1:]
        # Columns that are empty in every row are not shown.
        words = ["5000/min", "3", "base,monad", "1000000/month", "2099-01-01", *made["created"][:-4].split("T"), "UTC"]
        assert [row.split() for row in rows] == [[made["id"], "Acme", *words]]
    assert made["id"] in run_swapcli("keys", "list", "--format", "csv", env=env).stdout


@pytest.mark.parametrize("form", ["--format=plain", "--format=table"])
def test_people_get_no_headings_without_keys(env: dict[str, str], form: str) -> None:
    ran = run_swapcli("keys", "list", form, env=env)
    assert (ran.exit_code, ran.stdout) == (0, "")
    assert ran.stderr == "note: no keys yet; swapcli keys create NAME creates one\n"
    assert "name" in run_swapcli("keys", "list", "--format=csv", env=env).stdout.strip().split(",")


def test_a_plan_is_changed_by_id_or_name(env: dict[str, str]) -> None:
    made = run_swapcli("keys", "create", "Acme", *PLAN_OPTIONS, "--json", env=env).json
    changed = run_swapcli("keys", "change", "Acme", "--limit", "9/s", "--quota", "none", "--json", env=env).json
    assert {name: changed.get(name) for name in PLAN} == PLAN | {"limit": "9/s", "quota": None}
    assert "9/s" in run_swapcli("keys", "change", made["id"], "--streams", "none", env=env).stdout
    refused = run_swapcli("keys", "change", "Acme", "--expires", "2020-01-01", env=env)
    assert refused.exit_code == 2
    assert refused.stderr == "error: --expires: 2020-01-01 is in the past\nhint:  set a later date\n"


@pytest.mark.parametrize("named_by", ["id", "name"])
def test_a_key_is_revoked_by_id_or_name(env: dict[str, str], tmp_path: Path, named_by: str) -> None:
    made = run_swapcli("keys", "create", "Acme", "--json", env=env).json
    revoked = run_swapcli("keys", "revoke", made[named_by], "--json", env=env).json
    assert (revoked["id"], revoked["revoked"] is None) == (made["id"], False)
    assert KeyStore(tmp_path / "swapcli" / "keys.json").find(made["key"]) is None


def test_one_of_several_keys_is_named_by_its_id(env: dict[str, str]) -> None:
    first, second = (run_swapcli("keys", "create", "Acme", "--json", env=env) for _ in range(2))
    ids = [first.json["id"], second.json["id"]]
    warning = f'warning: "Acme" now has 2 keys; to revoke an older one, use its id: {ids[0]}'
    assert (first.stderr, second.stderr) == ("", f"{warning}\n")
    refused = run_swapcli("keys", "revoke", "Acme", "--json", env=env)
    assert (refused.exit_code, refused.error["details"]["ids"]) == (2, ids)


def test_a_key_that_is_not_there_cannot_be_revoked(env: dict[str, str]) -> None:
    assert (
        run_swapcli("keys", "revoke", "nobody", env=env).stderr.splitlines()[-1]
        == "hint:  swapcli keys list shows them"
    )


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 65])
def test_a_name_fits_on_a_line(env: dict[str, str], name: str) -> None:
    assert run_swapcli("keys", "create", name, env=env).exit_code == 2


def test_the_file_is_an_option_a_setting_or_beside_the_settings(tmp_path: Path) -> None:
    by_option, by_setting, beside = (tmp_path / name for name in ("option.json", "setting.json", "keys.json"))
    config = tmp_path / "config.yaml"
    config.write_text("")
    setting = {"SWAPCLI_SERVICE_KEYS_FILE": str(by_setting)}
    run_swapcli("keys", "create", "a", "--config", str(config), env=setting)
    run_swapcli("keys", "create", "b", "--config", str(config), "--keys-file", str(by_option), env=setting)
    run_swapcli("keys", "create", "c", "--config", str(config))
    stored_names = {file: json.loads(file.read_text())["keys"][0]["name"] for file in (by_setting, by_option, beside)}
    assert list(stored_names.values()) == ["a", "b", "c"]


def test_quiet_prints_the_key_only_and_mistakes_name_their_option(tmp_path: Path) -> None:
    file = ("--keys-file", str(tmp_path / "keys.json"))
    created = run_swapcli("keys", "create", "X", "-q", *file)
    assert (created.stdout.startswith("swk_"), created.stderr) == (True, "")
    for command in ("create", "change"):
        wrong = run_swapcli("keys", command, "X", "--limit", "banana", *file)
        assert (wrong.exit_code, wrong.stderr.startswith("error: --limit: expected")) == (2, True), wrong.stderr
