"""The session of a command: its settings, its output, and the openers of nodes, markets and sources."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from swapcli import InvalidOption
from swapcli.core.encoding.text import printable
from swapcli.core.model.live_and_check_modes import LiveMode
from swapcli.core.plugins import set_plugin_warn
from swapcli.faces.cli.files import read_file
from swapcli.faces.cli.options import OutputOptions
from swapcli.faces.cli.output import COMMON_FORMATS, FormatOptions, Output, OutputFormat, choose_format
from swapcli.quoting.config import (
    Settings,
    load_user_settings,
    network_names_from,
    node_url,
)
from swapcli.quoting.openers.choose_source import REMOTE_RETRIES, open_source_chooser
from swapcli.quoting.openers.user_setup import UserSetup
from swapcli.quoting.price_policy import PriceUse

if TYPE_CHECKING:
    from swapcli import Market
    from swapcli.core.model.past_block import PastBlock

__all__ = ["REMOTE_RETRIES", "Session", "open_session"]

KEYS_FILE = "keys.json"


class Session:
    """The openers that a command uses, according to its settings (`networks`, `nodes`, `markets` and `sources`), and
    its output.

    Warnings go to the output. `account_names` has the names given instead of addresses, keyed by option.
    """

    def __init__(self, setup: UserSetup, output: Output, config_file: Path) -> None:
        self.setup = setup
        self.output = output
        self.config_file = config_file
        self.account_names: dict[str, str] = {}
        self.sources = open_source_chooser(setup, on_fall_back=output.report_fall_back)
        self.markets, self.nodes, self.networks = self.sources.markets, self.sources.nodes, self.sources.networks
        self.routers = self.networks.routers

    @property
    def settings(self) -> Settings:
        """The settings of the command."""
        return self.setup.settings

    def keys_file(self) -> Path:
        """Return the file of API keys that a service on this machine accepts, by default next to the settings file."""
        return self.settings.service.keys_file or self.config_file.parent / KEYS_FILE

    def start_waiting(self, network: str | None) -> None:
        """Show on a terminal what a quote is waiting for, if it takes long. `network` defaults to the first configured
        network."""
        if not sys.stderr.isatty():
            return
        from swapcli.faces.cli.waiting import start_waiting

        network = network or network_names_from(self.settings)[0]
        own = self.settings.networks.get(network.lower())
        node = None if self.setup.is_offline else self.setup.rpc_url or (own and own.rpc_url)
        source = self.settings.api_url or (node and node.redacted)
        start_waiting(f"waiting for {printable(source)} ..." if source else "searching for the best route ...")

    def open_market(self, network: str, *, retries: int = REMOTE_RETRIES) -> Market:
        """Return the market that the settings name for `network`. Raises the same errors as `SourceChooser.open`."""
        self.start_waiting(network)
        from swapcli import Market

        source = self.sources.open(network, retries=retries)
        return Market(source, self.nodes, self.routers)

    def open_local_market(self, network: str) -> Market:
        """Return the market that quotes in this process. Raises the same errors as `SourceChooser.open_local`."""
        from swapcli import Market

        source = self.sources.open_local(network)
        return Market(source, self.nodes, self.routers)

    def open_known_market(self, network: str) -> Market:
        """Return the market over the store of `network`, otherwise over the embedded market, for commands that read
        past blocks."""
        self.start_waiting(network)
        from swapcli import Market

        return Market(self.sources.pools.open_known(network), self.nodes, self.routers)

    def network_name(self, name: str | None) -> str:
        """Return `name`, otherwise the network in the settings. Raises `InvalidOption` if there is neither."""
        name = name or self.settings.network
        if name is None:
            names = ", ".join(network_names_from(self.settings))
            raise InvalidOption("no network given", hint=f"use one of {names}, or run swapcli config set network base")
        return name


def _take_past_block(flags: dict[str, object], *, quotes_past_blocks: bool) -> PastBlock | None:
    """Return the past block named by --block, and remove it from the flags. Raises `InvalidOption`."""
    given = flags.get("block")
    if given is None:
        return None
    from swapcli.core.model.block_tag import BlockTag
    from swapcli.core.model.past_block import parse_block

    block = parse_block(str(getattr(given, "value", given)))
    if isinstance(block, BlockTag):
        return None
    if not quotes_past_blocks:
        *tags, last = BlockTag
        hint = f"use {', '.join(tags)} or {last}; route, compare, depth, price and pools accept past blocks"
        raise InvalidOption(f"--block: this command needs a recent block, not {block}", hint=hint)
    del flags["block"]
    return block


def open_session(
    output: OutputOptions,
    flags: Mapping[str, object] | None = None,
    *,
    rpc_url: str | None = None,
    offline: bool = False,
    reuses_searches: bool = False,
    quotes_past_blocks: bool = False,
    formats: Sequence[OutputFormat] = COMMON_FORMATS,
    price_use: PriceUse = PriceUse.SHOWN,
) -> Session:
    """Read the settings, and return a command's session. `flags` (by setting) override the environment, which overrides
    the file.

    `formats` are the formats that the command can print. Only a command that `quotes_past_blocks` accepts a block's
    number or hash. `price_use` is how the printed prices are used. With --get, they count as read by a program.
    `UserSetup` describes the other parameters.

    Raises `ConfigError`, `InvalidOption`.
    """
    if offline and rpc_url is not None:
        raise InvalidOption(
            "--offline uses no node, so it cannot be combined with --rpc-url", hint="use only one of them"
        )
    config_path = None if output.config is None else Path(output.config)
    early: list[str] = []  # until the settings say how to print
    set_plugin_warn(early.append)
    given = {**(flags or {}), "color": output.color}
    if getattr(given.get("live"), "value", None) == LiveMode.NEVER:
        raise InvalidOption('--live: no value "never"', hint="--offline uses no node")
    block = _take_past_block(given, quotes_past_blocks=quotes_past_blocks)
    loaded = load_user_settings(given, config_path)
    settings = loaded.settings
    requested = FormatOptions(output.json, output.format, output.get)
    if output.output_file is not None:
        from swapcli.faces.cli.output_file import format_of_file, open_output_file

        named = format_of_file(output.output_file, requested, formats)
        if not any(requested):
            requested = requested._replace(format=named)
        open_output_file(output.output_file)
    output_format = choose_format(requested, settings.output, formats)
    printed = Output(output_format, settings.color, [], output.get, output.quiet, [])
    if loaded.problem:
        printed.note(loaded.problem)
    set_plugin_warn(printed.warn_sentence)
    for each in early:
        printed.warn_sentence(each)
    setup = UserSetup(
        settings,
        loaded.data_dir,
        printed.note,
        read_file,
        os.environ,
        rpc_url=None if rpc_url is None else node_url("--rpc-url", rpc_url),
        is_offline=offline,
        reuses_searches=reuses_searches,
        block=block,
        price_use=PriceUse.NUMBER if output.get and price_use is PriceUse.SHOWN else price_use,
    )
    return Session(setup, printed, loaded.file)
