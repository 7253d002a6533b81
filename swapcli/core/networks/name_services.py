"""Name services of EVM networks."""

from __future__ import annotations

from typing import Final

from swapcli.core.records import NamedTuple

BASE: Final = "base"
ETHEREUM: Final = "ethereum"


class NameService(NamedTuple):
    """A name service: names that end in `suffix` are resolved on the chain `chain_id`.

    `network` is the name of that chain in the catalogue, and `setting` the name of the setting for a node of that
    chain, used instead of the nodes in the catalogue. `registry` lists the resolvers of all names; None for ENS, which
    has one resolver for all names.
    """

    title: str
    suffix: str
    chain_id: int
    network: str
    registry: str | None = None
    setting: str | None = None


ENS: Final = NameService("ENS", "", 1, ETHEREUM, setting="names_rpc_url")
BASENAMES: Final = NameService(
    "Basenames", ".base.eth", 8_453, BASE, "0xb94704422c2a1e396835a571837aa5ae53285a95"
)  # https://github.com/base/basenames, "Registry" of Base Mainnet


def find_name_service(name: str) -> NameService:
    """Return the service that resolves `name`."""
    return BASENAMES if name.lower().endswith(BASENAMES.suffix) else ENS
