"""What every command begins with: settings, output, and the networks that the settings know."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from swapcli.cli.files import STDIN, read_file
from swapcli.cli.options import FormOptions
from swapcli.cli.output import Output, choose_form, note
from swapcli.config import Secret, Settings, load_settings, networks_from
from swapcli.errors import InvalidOption, MarketError, PoolStateError
from swapcli.model.market import Market
from swapcli.model.network import Network


class Session(NamedTuple):
    """The settings in use and where results go."""

    settings: Settings
    output: Output

    def api_key(self) -> Secret | None:
        """The API key, from the settings or the file that they name. Raises `InvalidInput` for an unreadable file."""
        if self.settings.api_key is not None or self.settings.api_key_file is None:
            return self.settings.api_key
        key = read_file(str(self.settings.api_key_file)).decode(errors="replace").strip()
        return Secret(key) if key else None

    def network_name(self, name: str | None) -> str:
        """`name`, else the settings' network. Raises `InvalidOption` where there is neither."""
        name = name or self.settings.network
        if name is None:
            raise InvalidOption("no network given", hint="name one, or set SWAPCLI_NETWORK")
        return name

    def network(self, name: str) -> Network:
        """The network called `name`. Raises `UnknownNetwork`."""
        return networks_from(self.settings)(name)

    def market(self, name: str, *, skip_bad_pools: bool = False) -> Market:
        """The market of the network called `name`: the settings' market file, else the embedded one.

        Pools that were skipped are reported on stderr. Raises `InvalidInput` for a file that cannot be used.
        """
        from swapcli.engine.opening import open_market

        file = self.settings.market
        document = None if file is None else read_file(str(file))
        try:
            parsed = open_market(name, networks_from(self.settings), document=document, skip_bad_pools=skip_bad_pools)
        except MarketError as error:
            raise _in_file(error, file) from None
        for bad in parsed.skipped:
            note(f"skipped {bad.message}")
        return parsed.market


def open_session(form: FormOptions, flags: Mapping[str, object] | None = None) -> Session:
    """Reads the settings: `flags` by setting over environment over file. Raises `ConfigError`, `InvalidOption`."""
    settings = load_settings(
        flags={**(flags or {}), "color": form.color},
        environ=os.environ,
        config_path=Path(form.config) if form.config is not None else None,
        home=home(),
    )
    chosen = choose_form(json=form.json, plain=form.plain, table=form.table, default=settings.output)
    return Session(settings, Output(chosen, settings.color))


def _in_file(error: MarketError, file: Path | None) -> MarketError:
    """The same error, which also names the file, if it is one, and how to go on without a pool."""
    if file is not None:
        error.message = f"{'stdin' if str(file) == STDIN else file}: {error.message}"
    if isinstance(error, PoolStateError):
        error.hint = "--skip-bad-pools goes on without it"
    return error


def home() -> Path:
    """The user's folder; the working directory where the system knows none."""
    folder = os.path.expanduser("~")
    return Path("." if folder == "~" else folder)
