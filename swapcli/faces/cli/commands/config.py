"""`swapcli config`: show the settings, and write a settings file to start with."""

# No `from __future__ import annotations`: see `swapcli.startup`.

import os
from pathlib import Path
from typing import Annotated

from swapcli.core.encoding.disk_errors import write_error
from swapcli.core.encoding.text import printable
from swapcli.core.errors import ConfigError
from swapcli.faces.cli import options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.options import OutputOptions, option
from swapcli.faces.cli.output import LIST_FORMATS
from swapcli.faces.cli.render.list_view import ListView
from swapcli.faces.cli.session import open_session
from swapcli.quoting.config import config_file_path, home_folder
from swapcli.quoting.config.display import example_config, masked_rows

app = CommandApp("Show settings and where they come from.")


@app.command()
def show(*, output: OutputOptions) -> None:
    """Show every setting with its value and origin. Secrets are masked.

    \b
    Example: SWAPCLI_SLIPPAGE=0.3 swapcli config show
    """
    session = open_session(output, formats=LIST_FORMATS)
    rows = masked_rows(session.settings)
    session.output.print_list(
        ListView(
            columns=("setting", "value", "origin"),
            rows=tuple((printable(row.key), printable(row.value or "-"), printable(row.origin)) for row in rows),
            documents=tuple({"key": row.key, "value": row.value, "origin": row.origin} for row in rows),
        )
    )


@app.command()
def path(config: options.ConfigFile = None) -> None:
    """Print the path of the settings file.

    \b
    Example: swapcli config path
    """
    print(_file(config))


@app.command()
def init(
    force: Annotated[bool, option("--force", "Replace an existing file.", options.SETTINGS)] = False,
    config: options.ConfigFile = None,
) -> None:
    """Write a settings file that explains every setting and keeps all defaults.

    \b
    Example: swapcli config init
    """
    file = _file(config)
    _write(file, example_config(), replace=force)
    print(file)


def _file(config: str | None) -> Path:
    return config_file_path(Path(config) if config is not None else None, os.environ, home_folder())


def _write(file: Path, text: str, *, replace: bool) -> None:
    """Write the file, readable by its owner only: it may get API keys later."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if replace else os.O_EXCL)
        with os.fdopen(os.open(file, flags, 0o600), "w", encoding="utf-8") as stream:
            try:
                stream.write(text)
                stream.flush()
            except OSError:
                if not replace:
                    file.unlink()
                raise
    except FileExistsError:
        raise ConfigError(f"{file} already exists", hint="--force replaces it") from None
    except (OSError, ValueError) as error:
        raise write_error(str(file), error) from error
