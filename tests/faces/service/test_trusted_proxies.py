"""The address of a client behind proxies: from trusted ones only, never forged."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.faces.service.trusted_proxies import TrustedProxies
from swapcli.quoting.config.settings import ServiceSettings
from tests.support.service import build_order_query, in_process_service

TRUSTED = ("127.0.0.0/8", "10.0.0.0/8", "::1/128", "fd00::/8")
PROXIES = TrustedProxies(TRUSTED)


def judged(peer: str | None, *headers: tuple[str, str]) -> str | None:
    return PROXIES.client_address(peer, [(name.lower().encode(), value.encode("latin-1")) for name, value in headers])


def is_trusted(address: str) -> bool:
    return any(ip_address(address) in ip_network(each) for each in TRUSTED)


NAMED = ["127.0.0.1", "10.1.2.3", "::1", "fd00::7", "203.0.113.9", "2001:db8::9", "192.168.0.1"]
addresses: st.SearchStrategy[str] = st.one_of(
    st.sampled_from(NAMED), st.ip_addresses(v=4).map(str), st.ip_addresses(v=6, network="2000::/3").map(str)
)


@given(peer=addresses, chain=st.lists(addresses, max_size=6), made_up=st.lists(st.text(max_size=20), max_size=3))
def test_the_chain_is_read_from_the_right(peer: str, chain: list[str], made_up: list[str]) -> None:
    """Compare with the definition; entries left of an untrusted hop have no effect."""
    hops = [*chain, peer]
    expected = next((hop for hop in reversed(hops) if not is_trusted(hop)), hops[0])
    assert judged(peer, *([("X-Forwarded-For", ", ".join(chain))] if chain else [])) == str(ip_address(expected))
    elements = [f'for="[{each}]:1234";proto=https' if ":" in each else f"for={each}" for each in chain]
    if chain:
        assert judged(peer, ("Forwarded", ", ".join(elements))) == str(ip_address(expected))
        assert judged(peer, *(("X-Forwarded-For", each) for each in chain)) == str(ip_address(expected))
    if not all(map(is_trusted, hops)):
        junk = [each.encode("ascii", "replace").decode().replace(",", "") for each in made_up]
        assert judged(peer, ("X-Forwarded-For", ", ".join([*junk, *chain]))) == str(ip_address(expected))


JUDGED = [
    ('for="_gazonk"', None),
    ("for=unknown", None),
    ("by=203.0.113.43", None),
    ('For="[2001:db8:cafe::17]:4711"', "2001:db8:cafe::17"),
    ("for=192.0.2.60;proto=http;by=203.0.113.43", "192.0.2.60"),
    ("for=192.0.2.43, for=198.51.100.17", "198.51.100.17"),
    ("for=192.0.2.43, for=10.0.0.1;host=example.com", "192.0.2.43"),
    ('for=192.0.2.43;host="a,b;for=198.51.100.17"', "192.0.2.43"),
    ('for=198.51.100.17;host="\\"', None),
    ('"' * 5_000, None),
    ("for=198.51.100.17," + "for=10.0.0.1," * 2_000 + "for=192.0.2.60", "192.0.2.60"),
]


@pytest.mark.parametrize(("value", "client"), JUDGED)
def test_forwarded_is_read_as_its_standard_says(value: str, client: str | None) -> None:
    assert judged("127.0.0.1", ("Forwarded", value)) == client


def test_nobody_else_is_believed() -> None:
    assert judged("203.0.113.9", ("X-Forwarded-For", "127.0.0.1"), ("Forwarded", "for=127.0.0.1")) == "203.0.113.9"
    assert TrustedProxies().client_address("127.0.0.1", [(b"x-forwarded-for", b"203.0.113.9")]) == "127.0.0.1"
    assert judged(None, ("X-Forwarded-For", "127.0.0.1")) is None


def test_two_headers_that_disagree_leave_the_client_unknown() -> None:
    """A proxy that writes one header passes the other one on, possibly forged."""
    forwarded = ("X-Forwarded-For", "203.0.113.9")
    assert judged("127.0.0.1", forwarded, ("Forwarded", "for=203.0.113.9")) == "203.0.113.9"
    assert judged("127.0.0.1", forwarded, ("Forwarded", "for=127.0.0.1")) is None


def test_limits_and_the_log_go_by_the_client_not_by_the_proxy() -> None:
    settings = ServiceSettings(requests_per_minute=2, trusted_proxies=("127.0.0.1/32",))
    with in_process_service("testnet", settings=settings) as served:

        def status(*forwarded_for: str) -> int:
            headers = [("X-Forwarded-For", each) for each in forwarded_for]
            return served.get("/testnet/tokens", headers=headers).status_code

        assert [status("203.0.113.9") for _ in range(3)] == [200, 200, 429]
        assert [status("127.0.0.1, 203.0.113.9") for _ in range(2)] == [429, 429]
        assert [status("198.51.100.7") for _ in range(2)] == [200, 200]
        assert [status("garbage") for _ in range(3)] == [200, 200, 429]
        assert {status() for _ in range(5)} | {status("127.0.0.1") for _ in range(5)} == {200}
        assert [line["client"] for line in served.log_lines()[-11:]] == ["other"] * 1 + ["loopback"] * 10
        assert "203.0.113.9" not in served.log.getvalue()
        assert served.get("/testnet/route", build_order_query("testnet")).status_code == 200
