"""`swapcli config`: show the settings, and write a settings file to start with."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from functools import partial
from typing import TYPE_CHECKING, Annotated

from swapcli.core.encoding.text import printable
from swapcli.faces.cli import options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.files import STDIN, read_bounded_file
from swapcli.faces.cli.options import OutputOptions, argument, option
from swapcli.faces.cli.output import LIST_FORMATS, OutputFormat
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.session import open_session

if TYPE_CHECKING:
    from swapcli import SettingList

app = CommandApp("Show and change settings.")

Key = Annotated[str, argument("KEY", "Setting, such as slippage or networks.base.rpc_url.")]
COLUMNS = (Column("setting", readable_width=36), Column("value", readable_width=28), Column("origin", drop_order=1))


@app.command(formats=LIST_FORMATS)
def show(
    *,
    changed: Annotated[
        bool, option("--changed", "Show only settings that differ from their defaults.", options.SETTINGS)
    ] = False,
    output: OutputOptions,
) -> None:
    """Show every setting with its value and origin. Secrets are masked.

    \b
    Example: SWAPCLI_SLIPPAGE=0.3 swapcli config show --changed
    """
    session = open_session(output, formats=LIST_FORMATS)
    from swapcli import settings

    found = settings(changed=changed, settings=session.sources)
    session.output.print_list(found, _view, if_empty="no setting differs from its default")


@app.command()
def get(key: Key, *, output: OutputOptions) -> None:
    """Print the value of a setting. Secrets are masked.

    \b
    Example: swapcli config get slippage
    """
    session = open_session(output)
    from swapcli import setting

    found = setting(key, settings=session.sources)
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(found)
    elif found.value is not None:
        print(printable(found.value))
    else:
        from swapcli.quoting.config import settings_file

        session.output.note(settings_file.describe_unset(key, session.settings))


@app.command("set")
def set_(
    key: Key,
    value: Annotated[str, argument("VALUE", "New value; use - to read a secret from stdin.")],
    config: options.ConfigFile = None,
) -> None:
    """Change a setting in the settings file. Comments are kept.

    \b
    Examples:
      swapcli config set network base
      swapcli config set networks.base.rpc_url http://127.0.0.1:8545
    """
    from swapcli.quoting.config import settings_file

    read = partial(read_bounded_file, STDIN) if value == STDIN else None
    settings_file.change_setting(settings_file.settings_file(config), key, value, read)


@app.command()
def unset(key: Key, config: options.ConfigFile = None) -> None:
    """Reset a setting to its default by removing it from the settings file.

    \b
    Example: swapcli config unset slippage
    """
    from swapcli.quoting.config import settings_file

    settings_file.remove_setting(settings_file.settings_file(config), key)


@app.command()
def path(config: options.ConfigFile = None) -> None:
    """Print the path of the settings file.

    \b
    Example: swapcli config path
    """
    from swapcli.quoting.config import settings_file

    print(settings_file.settings_file(config))


@app.command()
def init(
    replace: Annotated[bool, option("--replace", "Replace an existing file.", options.SETTINGS)] = False,
    config: options.ConfigFile = None,
) -> None:
    """Write a settings file that lists every setting with its default and an explanation.

    \b
    Example: swapcli config init
    """
    from swapcli.quoting.config import settings_file

    file = settings_file.settings_file(config)
    settings_file.write_example(file, replace=replace)
    print(file)


def _view(found: "SettingList") -> ListView:
    return ListView(
        COLUMNS, tuple((printable(row.key), printable(row.value or "-"), printable(row.origin)) for row in found.rows)
    )
