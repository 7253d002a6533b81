"""What a server says is shown without its URL and without keys."""

from __future__ import annotations

from urllib.parse import urlsplit

from swapcli.state.rpc.rpc_connection import find_secrets, hide_secrets, redact

URL = "https://me:pass%2Fword@node.example/v3/0123456789abcdef?key=query-secret&n=1"


def test_every_part_of_a_url_that_may_be_a_key_is_a_secret() -> None:
    secrets = find_secrets(urlsplit(URL), ["Bearer header-secret"])
    assert {"0123456789abcdef", "query-secret", "pass%2Fword", "pass/word", "header-secret"} <= set(secrets)
    assert not {"v3", "me", "1", "n"} & set(secrets)
    assert list(secrets) == sorted(secrets, key=len, reverse=True)


def test_words_of_a_server_hold_no_url_and_no_secret() -> None:
    secrets = find_secrets(urlsplit(URL), ["Bearer header-secret"])
    shown = redact(f"no such key\n0123456789abcdef at {URL}, header-secret", secrets)
    assert not any(secret in shown for secret in (*secrets, "://", "\n"))
    assert shown.startswith("no such key")
    assert hide_secrets("plain words", secrets) == "plain words"
