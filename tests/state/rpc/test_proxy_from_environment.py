"""A proxy is that of the environment, unless a host is exempt from it."""

from __future__ import annotations

import pytest

from swapcli.state.rpc.proxy_from_environment import find_proxy

URL = "https://node.example.com:8545/key"


@pytest.mark.parametrize(
    ("environ", "proxy"),
    [
        ({}, None),
        ({"https_proxy": "http://proxy:3128"}, "http://proxy:3128"),
        ({"HTTPS_PROXY": "http://proxy:3128"}, "http://proxy:3128"),
        ({"http_proxy": "http://proxy:3128"}, None),
        ({"ALL_PROXY": "http://proxy:3128"}, "http://proxy:3128"),
        ({"https_proxy": "", "all_proxy": "http://proxy:3128"}, "http://proxy:3128"),
    ],
)
def test_the_variable_of_the_scheme_names_the_proxy(environ: dict[str, str], proxy: str | None) -> None:
    assert find_proxy(URL, environ) == proxy


@pytest.mark.parametrize(
    ("exempt", "is_exempt"),
    [
        ("*", True),
        ("example.com", True),
        (".example.com", True),
        ("other, NODE.example.com", True),
        ("node.example.com:8545", True),
        ("node.example.com:80", False),
        ("ample.com", False),
        ("", False),
    ],
)
def test_hosts_may_be_exempt(exempt: str, is_exempt: bool) -> None:
    assert (find_proxy(URL, {"https_proxy": "http://proxy:3128", "no_proxy": exempt}) is None) == is_exempt


def test_a_header_of_a_client_names_no_proxy() -> None:
    environ = {"REQUEST_METHOD": "GET", "HTTP_PROXY": "http://evil:3128"}
    assert find_proxy("http://node.example.com", environ) is None
