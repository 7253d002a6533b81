"""The settings, with their values and where each value comes from, for programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from swapcli.core.validation.argument_types import checks_arguments
from swapcli.quoting.config.display import SettingList, SettingRow, show_settings
from swapcli.quoting.openers.program_setup import open_program_sources

if TYPE_CHECKING:
    from swapcli.quoting.openers.choose_source import SourceChooser


def settings(*, changed: bool = False, settings: Mapping[str, object] | SourceChooser | None = None) -> SettingList:
    """Return every setting, or only the `changed` ones, with its value and where the value comes from. Secrets are
    masked."""
    return show_settings(open_program_sources(settings).markets.setup.settings, changed=changed)


@checks_arguments
def setting(key: str, *, settings: Mapping[str, object] | SourceChooser | None = None) -> SettingRow:
    """Return a setting with its value and where the value comes from. Secrets are masked. Raises `ConfigError` for an
    unknown key."""
    from swapcli.quoting.config.settings_file import find_setting

    return find_setting(key, open_program_sources(settings).markets.setup.settings)
