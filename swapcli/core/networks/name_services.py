"""Name services of EVM networks."""

from __future__ import annotations

from typing import Final

from swapcli.core.records import NamedTuple

BASE: Final = "base"


class NameService(NamedTuple):
    """A name service: names that end in `suffix` are resolved on the chain `chain_id`.

    `network` is its name in the catalogue, None for Ethereum, whose node is a setting of its own. `registry` knows the
    resolvers of all names; None for ENS, which has one resolver for all of them.
    """

    title: str
    suffix: str
    chain_id: int
    network: str | None = None
    registry: str | None = None


ENS: Final = NameService("ENS", "", 1)
BASENAMES: Final = NameService(
    "Basenames", ".base.eth", 8_453, BASE, "0xb94704422c2a1e396835a571837aa5ae53285a95"
)  # https://github.com/base/basenames, "Registry" of Base Mainnet


def find_name_service(name: str) -> NameService:
    """Return the service that resolves the name."""
    return BASENAMES if name.lower().endswith(BASENAMES.suffix) else ENS
