"""`swapcli completion`: print a script that completes commands, options and names."""

from __future__ import annotations

from typing import Annotated

import typer

from swapcli.cli.completion.command_tree import SHELLS, completion_script
from swapcli.cli.lazy_group import PanelCommand, new_app
from swapcli.cli.options import argument

app = new_app()


@app.command(cls=PanelCommand)
def completion(shell: Annotated[str, argument("SHELL", f"One of {', '.join(SHELLS)}.")]) -> None:
    """Print the completion script of a shell.

    \b
    Example: eval "$(swapcli completion bash)"

    Put that line into ~/.bashrc, or with zsh into ~/.zshrc. In ~/.config/fish/config.fish the line is `swapcli
    completion fish | source`. Commands, options, networks, tokens, protocols and the names of keys are completed.
    """
    if shell not in SHELLS:
        raise typer.BadParameter(f"{shell!r} is not one of {', '.join(SHELLS)}", param_hint="SHELL")
    print(completion_script(shell), end="")
