"""Keep private facts out of a report: the user's nodes, keys and credentials.

Error messages name nodes without their credentials. Because reports are meant to be shared, private hosts must not be
named either.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from swapcli.core.encoding.secret import MASK, Secret
from swapcli.core.encoding.text import single_line, truncate

if TYPE_CHECKING:
    from swapcli.core.model.network import Network
    from swapcli.quoting.openers.user_setup import UserSetup

OWN_NODE: Final = "your node"
_MAX_CHARACTERS: Final = 600  # characters of a reason, which may quote a contract; chosen
_MIN_SECRET_CHARACTERS: Final = 12
"""Texts shorter than this are not replaced, because they could be ordinary words. Chosen."""


class Privacy:
    """A replacer of private texts. It replaces longer texts first, because they may contain shorter ones."""

    def __init__(self, setup: UserSetup, network: Network) -> None:
        found = dict(_private_texts(setup, network))
        self._replaced = sorted(found.items(), key=lambda pair: (-len(pair[0]), pair[0]))

    def clean(self, text: str) -> str:
        """Return a text on one line, with its private parts replaced."""
        for private, shown in self._replaced:
            text = text.replace(private, shown)
        return truncate(single_line(text), _MAX_CHARACTERS)


def _private_texts(setup: UserSetup, network: Network) -> Iterator[tuple[str, str]]:
    """Yield private texts with their replacements."""
    settings = setup.settings
    named = [setup.rpc_url, settings.witness]
    for name in (network.name, *settings.networks):
        own = settings.networks.get(name)
        if own is not None:
            named += [own.rpc_url, *(own.rpc_urls or ())]
            for header in (own.rpc_headers or {}).values():
                yield from _secret(header)
    named_by_variable = setup.environ.get("ETH_RPC_URL", "").strip()
    public = {urlsplit(node.url).netloc for node in network.public_nodes}
    urls = [each for each in named if each is not None] + ([Secret(named_by_variable)] if named_by_variable else [])
    for url in urls:
        revealed = url.reveal()
        host = urlsplit(revealed).netloc if "://" in revealed else ""
        bare_host = host.rpartition("@")[2]
        yield from ((text, OWN_NODE) for text in (revealed, url.redacted) if text != MASK and len(text) > 1)
        parts = urlsplit(revealed)
        for name in (host, bare_host):
            if name and name not in public:
                yield from ((text, OWN_NODE) for text in (f"{parts.scheme}://{name}", name))
        yield from ((text, MASK) for text in _long(parts.password, parts.query, *parts.path.split("/")))
    for aggregator in settings.aggregators.values():
        yield from _secret(aggregator.api_key)
    yield from _secret(settings.api_key)


def _secret(value: Secret | None) -> Iterator[tuple[str, str]]:
    if value is not None and len(value.reveal()) > 1:
        yield value.reveal(), MASK


def _long(*texts: str | None) -> Iterator[str]:
    yield from (text for text in texts if text and len(text) >= _MIN_SECRET_CHARACTERS)
