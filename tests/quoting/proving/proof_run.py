"""A user with a chain, whose runs of `swapcli prove` contact nothing else."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path
from typing import Any

from swapcli import ProofItem, ProofOutcome, ProofStage, ProveReport, prove
from swapcli.core.model.network import Network
from swapcli.quoting.openers.choose_aggregators import packaged_names
from swapcli.state.store import create_store
from tests.chain.market_reader import read_market
from tests.chain.settings import describe_network, url_of
from tests.chain.trader import Trader
from tests.state.store.build import only
from tests.support.command import CommandResult, run_swapcli
from tests.support.fake_aggregators import DEAD_URL


def renew_blocks(trader: Trader) -> None:
    """Mine a block at the present time, so that the node is not stale."""
    newest_s = int(trader.chain.node.ask("eth_getBlockByNumber", "latest", False)["timestamp"], 16)
    trader.chain.node.ask("evm_setNextBlockTimestamp", hex(max(int(time.time()), newest_s + 1)))
    trader.chain.node.ask("evm_mine")


class ProofUser:
    """A user with a store of the trader's pools and its node, and a folder for reports."""

    def __init__(self, trader: Trader, folder: Path) -> None:
        self.trader, self.folder, self.network = trader, folder, trader.world.network
        self.report_folder = folder / "report"
        self.settings_file = folder / "config.yaml"
        file = folder / "stores" / f"{self.network.name}.sqlite"
        file.parent.mkdir()
        with create_store(str(file), self.network, only(self.network)) as store:
            store.write_market(read_market(trader.world))
        self.write_settings()

    def write_settings(
        self,
        *,
        rpc_url: str | None = None,
        network: Network | None = None,
        public: list[str] | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        """Write the settings file and return its settings; no aggregator of the package can be reached."""
        chosen = network or self.network
        described = describe_network(chosen, None if public else rpc_url or url_of(self.trader.chain))
        if public:
            described |= {"public_rpc_urls": public, "block_time_s": 60}
        dead = {name: {"address": DEAD_URL} for name in packaged_names()}
        settings = {
            "store_dir": str(self.folder / "stores"),
            "networks": {chosen.name: described},
            "aggregators": dead | more.pop("aggregators", {}),
            **more,
        }
        self.settings_file.write_text(json.dumps(settings))
        return settings

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a command that reads the settings."""
        return {
            "SWAPCLI_CONFIG": str(self.settings_file),
            "SWAPCLI_LIVE": "auto",
            "XDG_DATA_HOME": str(self.folder / "data"),
        }

    def run(self, *words: str) -> CommandResult:
        """Run the command on the report folder."""
        folder = () if "--folder" in words else ("--folder", str(self.report_folder))
        return run_swapcli("prove", self.network.name, *folder, *words, env=self.environment)

    def prove(self, **options: Any) -> ProveReport:
        """Call the library in an environment that the test has set."""
        return prove(self.network.name, self.report_folder, **options)

    def document(self) -> dict[str, Any]:
        """Return the JSON of the report folder."""
        found: dict[str, Any] = json.loads((self.report_folder / "report.json").read_text())
        return found

    def texts(self) -> str:
        """Return all that the report folder says, proofs included."""
        names = ("report.json", "report.html", "journal.jsonl")
        proofs = (gzip.decompress(file.read_bytes()).decode() for file in (self.report_folder / "proofs").iterdir())
        return "".join([*((self.report_folder / name).read_text() for name in names), *proofs])


def of(report: ProveReport, stage: ProofStage, outcome: ProofOutcome) -> list[ProofItem]:
    """Return the items of a stage with an outcome."""
    return [item for item in report.of(stage) if item.outcome is outcome]
