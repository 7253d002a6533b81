"""The command with a store, and a proxy before the node."""

from __future__ import annotations

from pathlib import Path

from swapcli.state.store import create_store
from tests.chain.proxy import Proxy
from tests.chain.settings import write_settings
from tests.chain.trader import Trader
from tests.support.command import CommandResult, run_swapcli

NOTHING = "0x" + "12" * 32
"""The hash of no transaction."""


class HindsightCommand:
    """Runs it; `proxy` has the method of every request."""

    def __init__(self, trader: Trader, folder: Path, proxy: Proxy) -> None:
        self.name, self.proxy, self.folder = trader.world.network.name, proxy, folder
        self.settings = write_settings(folder, trader.world.network, proxy.url)
        file = folder / "stores" / f"{self.name}.sqlite"
        file.parent.mkdir()
        with create_store(str(file), trader.world.network, lambda _: trader.world.network) as store:
            store.write_market(trader.market._replace(block=1, timestamp=1))

    @property
    def environment(self) -> dict[str, str]:
        """The variables with its settings and folders."""
        return {"SWAPCLI_CONFIG": str(self.settings), "XDG_DATA_HOME": str(self.folder / "data")}

    def run(self, *words: str, stdin: bytes = b"") -> CommandResult:
        return run_swapcli("hindsight", self.name, *words, env=self.environment, stdin=stdin)
