"""The reference of the settings, made from their table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from swapcli.quoting.config.settings import FIELDS, NETWORK_TABLE, NETWORKS, Setting, variable_of
from tests.generate.site.markdown import escape, table, with_references


def settings_page() -> str:
    """Return the page: a table for each group of settings."""
    blocks = [
        "# Settings",
        "Each setting has a key for the settings file and for `swapcli config set`, and an environment variable. "
        "The guide is the topic [settings](topics/settings.md).",
    ]
    for group, rows in FIELDS.items():
        blocks += [f"## {group or 'General'}", _table((row, row.variable) for row in rows.values())]
    prefix = f"{NETWORKS}.NAME"
    of_network = (
        (row._replace(key=f"{prefix}.{name}"), variable_of(f"{prefix}.{name}")) for name, row in NETWORK_TABLE.items()
    )
    blocks += ["## Networks", "`NAME` is a network, such as `base`.", _table(of_network)]
    return "\n\n".join(blocks) + "\n"


def _table(rows: Iterable[tuple[Setting, str]]) -> str:
    return table(("key", "variable", "default", "meaning"), _cells(rows))


def _cells(rows: Iterable[tuple[Setting, str]]) -> Iterator[tuple[str, ...]]:
    for row, variable in rows:
        default = "" if row.default is None else row.value_type.format(row.default)
        text = with_references(escape(row.help), "topics/")
        yield f"`{row.key}`", f"`{variable}`", f"`{default}`" if default else "", text
