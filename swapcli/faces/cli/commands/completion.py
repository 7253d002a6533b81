"""`swapcli completion`: print a script that completes commands, options and names."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from typing import Annotated

from swapcli.core.encoding.closest import closest_names, did_you_mean
from swapcli.faces.cli.command_app import CommandApp, UsageError
from swapcli.faces.cli.completion.shell_scripts import SHELLS, completion_script
from swapcli.faces.cli.options import argument

app = CommandApp()


@app.command()
def completion(shell: Annotated[str, argument("SHELL", f"One of {', '.join(SHELLS)}.")]) -> None:
    """Print a shell completion script.

    \b
    Example: eval "$(swapcli completion bash)"

    Add this line to ~/.bashrc. For zsh, replace bash with zsh, and add it to ~/.zshrc. For fish, add
    `swapcli completion fish | source` to ~/.config/fish/config.fish.
    """
    if shell not in SHELLS:
        meant = did_you_mean(closest_names(shell, SHELLS, limit=1))
        problem = f"invalid value for SHELL: {shell!r} is not one of {', '.join(SHELLS)}"
        raise UsageError(f"{problem}: {meant}" if meant else problem)
    print(completion_script(shell), end="")
