"""Completion of command lines in bash, zsh and fish.

A script of a shell (`scripts`) runs `swapcli _complete WORD...`, which `candidates` answers. It knows the commands from
`command_tree.json`, which `make completions` writes, and the names of networks, tokens, protocols
and keys from `names`. Both load neither Typer nor the settings, which would take longer than a user waits; `facts`
remembers what the settings say.
"""

PUBLIC = ("candidates", "shell_scripts")
