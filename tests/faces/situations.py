"""The situations in which the faces of the program quote: each kind of prices, and how the user requested them.

A situation is a set of settings and options. A face runs in it as a command (`words` and `environment`) or as a service
in this process (`open_service`).
"""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from swapcli.core.model.market import Provenance
from swapcli.core.networks.catalogue import find_network
from swapcli.faces.cli.options import OutputOptions, settings_of
from swapcli.faces.cli.session import open_session
from swapcli.faces.service.access_log import AccessLog
from swapcli.faces.service.market_followers import FollowerThreads
from swapcli.faces.service.service_sources import open_app, open_service_sources, read_policy
from swapcli.state.markets.embedded import embedded_market as embedded_document
from swapcli.state.store import create_store
from tests.chain.settings import describe_network, url_of
from tests.chain.trader import Trader
from tests.state.store.build import only
from tests.support.command import clean_environment
from tests.support.markets import embedded_market
from tests.support.service import SendRequest, open_client
from tests.support.waiting import until

NO_NETWORK = {"SWAPCLI_LIVE": "auto", "HTTPS_PROXY": "http://127.0.0.1:9"}
"""Nothing listens at that port, so that no public node is reached."""
NO_NODE = "http://127.0.0.1:9"


class State(Enum):
    """The columns of the table: the prices, and how they were requested."""

    LIVE = "read from a public node"
    STORED = "of a store that a node has filled"
    RECORDED_FILE = "of a market file, recorded"
    SYNTHETIC_FILE = "of a market file, synthetic"
    SYNTHETIC_FILE_OFFLINE = "of a market file, synthetic, with --offline"
    REAL_SERVICE = "of another service, real"
    UNREAL_SERVICE = "of another service, modelled"
    OFFLINE = "modelled, requested with --offline"
    NEVER = "modelled, requested with live: never"
    UNREQUESTED = "modelled, since no node responds"


@dataclass(frozen=True)
class Situation:
    """Settings and options of a user who quotes on `network`."""

    state: State
    network: str = "base"
    options: Mapping[str, str] = field(default_factory=dict)
    offline: bool = False
    env: Mapping[str, str] = field(default_factory=lambda: NO_NETWORK)

    @property
    def words(self) -> tuple[str, ...]:
        """The options of a command line."""
        named = [word for name, value in self.options.items() for word in (f"--{name.replace('_', '-')}", value)]
        return (*named, *["--offline"] * self.offline)

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables of a command."""
        return {**NO_NETWORK, **self.env}


@contextmanager
def open_service(situation: Situation, *names: str) -> Iterator[SendRequest]:
    """Run the service of `swapcli serve` in this process once every network has a market; yield how to send to it."""
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith(("SWAPCLI_", "XDG_", "ETH_RPC_URL")):
                patch.delenv(name)
        for name, value in clean_environment(situation.environment).items():
            patch.setenv(name, value)
        session = open_session(OutputOptions(), settings_of(**situation.options), offline=situation.offline)
        sources = open_service_sources(session.sources, names, session.output.note)
        log, registry = AccessLog(io.StringIO()), sources.registry
        with FollowerThreads(sources.followed, registry, log) as followers:
            app = open_app(sources, read_policy(session.settings, session.keys_file()), log, followers)
            with open_client(app) as send:
                for network in registry.served_networks:
                    if registry.has_opener(network.name):
                        registry.open_source(network.name)
                until(lambda: len(registry.sources) == len(registry.served_networks))
                if situation.state is State.LIVE:
                    until(lambda: all(source.state_source.is_live for source in registry.sources.values()))
                yield send


def market_file(folder: Path, provenance: Provenance) -> str:
    """Write the embedded market of base as a file with another provenance; return its path."""
    file = folder / f"{provenance.value}.json"
    document: dict[str, Any] = json.loads(embedded_document("base")) | {
        "provenance": provenance.value, "block": 1, "timestamp": int(time.time())
    }  # fmt: skip
    file.write_text(json.dumps(document))
    return str(file)


def stored(folder: Path) -> str:
    """Write the embedded market of base into a store, as a node would have filled it; return its folder."""
    network = find_network("base")
    market = embedded_market("base")._replace(provenance=Provenance.SYNCED, block=1, timestamp=int(time.time()))
    with create_store(str(folder / "base.sqlite"), network, only(network)) as store:
        store.write_market(market)
    return str(folder)


def live_settings(trader: Trader, folder: Path) -> str:
    """Describe the trader's chain as a network with a public node, and a store with its pools; return the settings."""
    from tests.chain.market_reader import read_market

    network = trader.world.network
    (folder / "stores").mkdir()
    with create_store(str(folder / "stores" / f"{network.name}.sqlite"), network, only(network)) as store:
        store.write_market(read_market(trader.world)._replace(provenance=Provenance.MODELLED))
    public = {"public_rpc_urls": [url_of(trader.chain)]}
    file = folder / "config.yaml"
    networks = {network.name: describe_network(network) | public}
    file.write_text(json.dumps({"store_dir": str(folder / "stores"), "networks": networks}))
    return str(file)
