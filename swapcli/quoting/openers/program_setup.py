"""The setup of a program that quotes. Its arguments override the environment, then the user's file, then the
defaults."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from swapcli.core.errors import InvalidInput
from swapcli.core.plugins import set_plugin_warn
from swapcli.core.validation.values import describe
from swapcli.quoting.config import load_user_settings
from swapcli.quoting.config.loader import ARGUMENT_ORIGIN
from swapcli.quoting.config.source_readers import RawValue
from swapcli.quoting.openers.user_setup import UserSetup

if TYPE_CHECKING:
    from swapcli.quoting.config import Secret
    from swapcli.quoting.openers.choose_source import SourceChooser


def program_setup(
    settings: Mapping[str, object],
    *,
    rpc_url: Secret | None = None,
    offline: bool = False,
    reuse_searches: bool = False,
    block: int | str | None = None,
    warn: Callable[[str], object] | None = None,
) -> UserSetup:
    """Return the user's setup, overridden by `settings` (by dotted key, as text or typed).

    `warn` receives warnings as sentences. Without it, they go to the logger `swapcli`. Raises `ConfigError`, and
    `InvalidOption` for an invalid `block`.
    """
    from swapcli.core.model.block_tag import BlockTag
    from swapcli.core.model.past_block import parse_block

    if warn is not None:
        set_plugin_warn(warn)
    named = None if block is None else parse_block(block, "block")
    if isinstance(named, BlockTag):
        settings, named = {**settings, "block": named.value}, None
    flags = {key: value if value is None else RawValue(value, ARGUMENT_ORIGIN, key) for key, value in settings.items()}
    loaded = load_user_settings(flags)
    warn = warn or _log_warning
    if loaded.problem:
        warn(loaded.problem)
    return UserSetup(
        loaded.settings,
        loaded.data_dir,
        warn,
        environ=os.environ,
        rpc_url=rpc_url,
        is_offline=offline,
        reuses_searches=reuse_searches,
        block=named,
    )


def _log_warning(sentence: str) -> None:
    import logging

    logging.getLogger("swapcli").warning(sentence)


def open_program_sources(
    settings: Mapping[str, object] | SourceChooser | None = None, *, offline: bool = False, **overrides: object
) -> SourceChooser:
    """Return the opener of networks, stores, nodes and sources, with the given settings and `overrides`.

    An opener from a command is returned unchanged. Raises the same errors as `program_setup`.
    """
    from swapcli.quoting.openers.choose_source import SourceChooser, open_source_chooser

    if isinstance(settings, SourceChooser):
        return settings
    if not isinstance(settings, Mapping | None):
        raise InvalidInput(f"settings must be a mapping or None, not {describe(settings)}")
    return open_source_chooser(program_setup({**(settings or {}), **overrides}, offline=offline))


def sources_with_node(sources: SourceChooser, rpc_url: str | None) -> SourceChooser:
    """Return `sources` with the node at `rpc_url`, or unchanged if `rpc_url` is None. Raises `ConfigError`."""
    if rpc_url is None:
        return sources
    from swapcli.quoting.config import node_url
    from swapcli.quoting.openers.choose_source import open_source_chooser

    return open_source_chooser(sources.setup._replace(rpc_url=node_url("rpc_url", rpc_url)))
