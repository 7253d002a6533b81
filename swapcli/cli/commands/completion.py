"""`swapcli completion`: a script that completes commands, options and networks."""

from __future__ import annotations

from typing import Annotated

import typer

from swapcli.cli.completion_scripts import SHELLS, script
from swapcli.cli.lazy_group import GroupedCommand, new_app
from swapcli.cli.options import argument

app = new_app()


@app.command(cls=GroupedCommand)
def completion(shell: Annotated[str, argument("SHELL", f"One of {', '.join(SHELLS)}.")]) -> None:
    """Print the completion script of a shell.

    \b
    Example: eval "$(swapcli completion bash)"
    """
    if shell not in SHELLS:
        raise typer.BadParameter(f"{shell!r} is not one of {', '.join(SHELLS)}", param_hint="SHELL")
    print(script(shell), end="")
