"""The import of Typer, for command lines that are not plain."""

from __future__ import annotations

import sys
from types import ModuleType


def import_typer() -> None:
    """Import Typer without `uuid`, which asks `platform` at once what it runs on.

    Typer only compares the types of options with `uuid.UUID`, and no option here has that type.
    """
    stand_in = ModuleType("uuid")
    stand_in.__dict__["UUID"] = type("UUID", (), {})
    is_replaced = sys.modules.setdefault("uuid", stand_in) is stand_in
    try:
        import typer  # noqa: F401
    finally:
        if is_replaced:
            del sys.modules["uuid"]
