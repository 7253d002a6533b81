"""The user's setup: settings, environment and command line. All code that opens nodes and markets shares it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from swapcli.core.encoding.byte_order_mark import to_plain_utf8
from swapcli.core.encoding.disk_errors import read_error
from swapcli.core.records import NamedTuple
from swapcli.quoting.config import Secret, Settings
from swapcli.quoting.live_choice import NodeRules
from swapcli.quoting.price_policy import PriceUse

if TYPE_CHECKING:
    from swapcli.core.model.past_block import PastBlock
    from swapcli.state.rpc.run_budget import RunBudget

Warn = Callable[[str], object]
"""Called with a warning as a sentence."""


def read_file(name: str) -> bytes:
    """Return the contents of a file. Raises `InvalidInput` if it cannot be read."""
    try:
        return to_plain_utf8(Path(name).read_bytes())
    except (OSError, ValueError) as error:
        raise read_error(name, error) from error


class UserSetup(NamedTuple):
    """The user's setup for one command, service or market.

    `data_dir` holds the stores unless the settings name another folder. `warn` receives warnings as sentences. `read`
    returns the contents of a file by its name, and `environ` may name HTTP proxies and a node. `rpc_url` replaces the
    nodes in the settings; `is_offline` forbids all connections. With `reuses_searches`, sources start a search from
    earlier searches for similar orders. A service has its own setting for this. Quotes use the state of `block`, if
    any, instead of a recent block. `price_use` is how the prices from sources are used. Sources raise `ModelledState`
    if `quoting.price_policy` does not allow that use. `run_budget` limits the total number of requests to nodes, or is
    None for no limit.
    """

    settings: Settings
    data_dir: Path
    warn: Warn
    read: Callable[[str], bytes] = read_file
    environ: Mapping[str, str] = MappingProxyType({})
    rpc_url: Secret | None = None
    is_offline: bool = False
    reuses_searches: bool = False
    block: PastBlock | None = None
    price_use: PriceUse = PriceUse.SHOWN
    run_budget: RunBudget | None = None

    @property
    def node_rules(self) -> NodeRules:
        """The rules on which nodes to read."""
        return NodeRules(self.settings, self.rpc_url, self.is_offline, self.environ)

    @property
    def stores_folder(self) -> Path:
        """The folder of the stores, with one file per network."""
        return self.settings.store_dir or self.data_dir

    def api_key(self) -> Secret | None:
        """Return the API key from the settings or from the file they name. Raises `InvalidInput`."""
        if self.settings.api_key is not None or self.settings.api_key_file is None:
            return self.settings.api_key
        key = self.read(str(self.settings.api_key_file)).decode(errors="replace").strip()
        return Secret(key) if key else None


def may_exist(file: Path) -> bool:
    """Return whether a file exists. If its folder cannot be read, return True, so that opening the file raises the
    error."""
    try:
        file.stat()
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return True
