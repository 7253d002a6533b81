"""Facts from the settings for completion."""

from __future__ import annotations

TYPE_CHECKING = False  # importing it from `typing` would take milliseconds
if TYPE_CHECKING:
    from collections.abc import Mapping

    Names = list[list[str]]


class SettingFacts:
    """The default network, the stores' folder, the keys' file, and the networks defined in the settings.

    `networks` has the tokens and the protocols of each such network, as pairs of a name and an explanation.
    """

    def __init__(
        self, network: str | None, stores: str, keys_file: str, networks: Mapping[str, Mapping[str, Names]]
    ) -> None:
        self.network = network
        self.stores = stores
        self.keys_file = keys_file
        self.networks = networks
