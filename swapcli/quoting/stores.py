"""Describe, import, export and remove the stores of pools on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from swapcli.core.encoding.text import counted
from swapcli.core.errors import InvalidInput, MarketError, SwapcliError
from swapcli.core.model.market import MarketState
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swappable_tokens import swappable_in
from swapcli.core.records import NamedTuple
from swapcli.core.validation.argument_types import checks_arguments
from swapcli.interface.own_document import own_document
from swapcli.interface.quote_fields import render_state_source
from swapcli.quoting.openers.program_setup import open_program_sources
from swapcli.state.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from os import PathLike

    from swapcli.interface.document_types import ExportDocumentJson, RemovedStoreJson, StoreJson
    from swapcli.quoting.openers.choose_source import SourceChooser
    from swapcli.state.store import StoreSummary


class StoreInfo(NamedTuple):
    """A description of a store's contents at a Unix time."""

    summary: StoreSummary
    now_s: float

    @property
    def is_empty(self) -> bool:
        """Whether nothing has ever been stored, for example because the first sync failed."""
        return self.summary.block is None and self.summary.pools == 0

    @property
    def state(self) -> StateSource:
        """The source of the store's pool state, with its age."""
        summary = self.summary
        age_s = None if summary.timestamp is None else max(0, int(self.now_s) - summary.timestamp)
        block = None if summary.block is None else summary.block.number
        provenance = None if self.is_empty else summary.provenance
        return StateSource(provenance, summary.source, block, summary.timestamp, age_s, pinned=summary.pinned)

    @own_document
    def document(self) -> StoreJson:
        """Return the JSON that `swapcli market info NETWORK` prints."""
        summary = self.summary
        return {
            "network": summary.network,
            "chainId": str(summary.chain_id),
            "state": render_state_source(self.state),
            "gasPriceWei": str(summary.gas_price_wei),
            "pools": summary.pools,
            "tokens": summary.tokens,
            "transfers": {kind.value: count for kind, count in summary.transfers.items()},
            "protocols": [
                {
                    "protocol": each.protocol,
                    "family": each.family,
                    "pools": each.pools,
                    "depthUsd": round(each.depth_usd, 2),
                }
                for each in summary.protocols
            ],
            "undoableBlocks": summary.undoable_blocks,
            "store": summary.path,
            "bytes": summary.size_bytes,
        }


class StoreList(NamedTuple):
    """The stores that can be read, and the errors for those that cannot."""

    stores: tuple[StoreInfo, ...]
    failures: tuple[SwapcliError, ...] = ()

    @own_document
    def document(self) -> list[StoreJson]:
        """Return the JSON that `swapcli market info` prints."""
        return [each.document() for each in self.stores]


class ExportedMarket(NamedTuple):
    """A market as the text of a market file. If `file` is given, the text was written to it."""

    market: MarketState
    text: str
    file: str
    state: StateSource

    @property
    def tokens(self) -> int:
        """The number of swappable tokens."""
        return len(swappable_in(self.market))

    @own_document
    def document(self) -> ExportDocumentJson:
        """Return the JSON that `swapcli market export NETWORK FILE` prints."""
        return {
            "network": self.market.network.name,
            "state": render_state_source(self.state),
            "pools": len(self.market.pools),
            "tokens": self.tokens,
            "file": self.file,
            "bytes": len(self.text),
        }


class RemovedStore(NamedTuple):
    """A store that was removed or is about to be removed. `pools` is None if the store is damaged."""

    network: str
    path: str
    pools: int | None

    @own_document
    def document(self) -> RemovedStoreJson:
        """Return the JSON that `swapcli market remove` prints."""
        return {"network": self.network, "pools": self.pools, "store": self.path}


def stores(*, settings: Mapping[str, object] | SourceChooser | None = None) -> StoreList:
    """Return the contents of all stores. Raises `ConfigError` if the folder of stores does not exist."""
    from swapcli.state.store import open_store

    sources = open_program_sources(settings)
    found: list[StoreInfo] = []
    failures: list[SwapcliError] = []
    for file in sources.markets.store_files():
        try:
            with open_store(str(file), sources.networks.find) as stored:
                found.append(describe_store(stored.read_summary()))
        except SwapcliError as error:
            failures.append(error)
    return StoreList(tuple(found), tuple(failures))


@checks_arguments
def store_info(network: str, *, settings: Mapping[str, object] | SourceChooser | None = None) -> StoreInfo:
    """Return the contents of a network's store. Raises `ConfigError` if there is no store, and `MarketError` if it is
    damaged."""
    with open_program_sources(settings).markets.open_store(network) as stored:
        return describe_store(stored.read_summary())


@checks_arguments
def import_market(
    file: str | PathLike[str],
    network: str | None = None,
    *,
    replace: bool = False,
    skip_bad_pools: bool = False,
    settings: Mapping[str, object] | SourceChooser | None = None,
) -> StoreInfo:
    """Write the pools in a market file into its network's store, which quotes use from then on.

    If `network` is given, a file for another network is rejected. Raises `InvalidInput` if the store already has pools
    and `replace` is false, and `MarketError` for an invalid file.
    """
    sources = open_program_sources(settings, market=os.fspath(file))
    market = (
        sources.markets.file_market(skip_bad_pools=skip_bad_pools)
        if network is None
        else sources.markets.market(network, skip_bad_pools=skip_bad_pools)
    )
    assert market is not None
    with sources.markets.create_store(market.network) as target:
        pools = target.read_summary().pools
        if pools and not replace:
            raise InvalidInput(
                f"the store {target.path} already has {counted(pools, 'pool')}",
                hint="--replace overwrites them with the file's pools",
                details={"store": target.path, "pools": pools},
            )
        target.write_market(market)
        return describe_store(target.read_summary())


@checks_arguments
def export_market(
    network: str,
    file: str | PathLike[str] | None = None,
    *,
    settings: Mapping[str, object] | SourceChooser | None = None,
) -> ExportedMarket:
    """Return a network's store as a market file, or its embedded market if there is no store. Write it to `file` if
    given.

    The file is written completely or not at all. Raises `InputOutputError`, and `MarketUnavailable` if there is no
    market.
    """
    from swapcli.state.markets.format import render_market

    sources = open_program_sources(settings)
    store = sources.markets.find_store(network)
    if store is None:
        market = sources.markets.embedded_market(network)
    else:
        with store:
            market = store.read_market()
    text = render_market(market) + "\n"
    name = "" if file is None else os.fspath(file)
    if file is not None:
        from swapcli.state.file_writing import write_text_file

        write_text_file(name, text)
    return ExportedMarket(market, text, name, StateSource.of(market, SYSTEM_CLOCK.now_s()))


@checks_arguments
def remove_store(
    network: str,
    *,
    confirm: Callable[[RemovedStore], object] | None = None,
    settings: Mapping[str, object] | SourceChooser | None = None,
) -> RemovedStore:
    """Remove a network's store, even if it is damaged. Quotes then use the embedded market.

    `confirm` is called first with the store, and may raise an error to keep it. Raises `ConfigError` if there is no
    store, or if another process has it open.
    """
    from swapcli.state.store import remove_store as remove

    sources = open_program_sources(settings)
    try:
        with sources.markets.open_store(network) as stored:
            found = RemovedStore(stored.network.name, stored.path, stored.read_summary().pools)
    except MarketError:
        file = sources.markets.store_file(network)
        # A network that only this store knows cannot be read from it.
        name = network if file.exists() else sources.networks.find(network).name
        found = RemovedStore(name, str(file), None)
    if confirm is not None:
        confirm(found)
    remove(found.path)
    return found


def describe_store(summary: StoreSummary) -> StoreInfo:
    """Return a description of a store's contents now."""
    return StoreInfo(summary, SYSTEM_CLOCK.now_s())
