"""Completion of command lines in bash, zsh and fish.

A shell script (`scripts`) runs `swapcli _complete WORD...`, which `candidates` handles. The commands come from
`command_tree.json`, which `make completions` writes, and the names of networks, tokens, protocols and keys from
`names`. Neither loads Typer or the settings, which would take too long; `facts` caches facts from the settings.
"""

PUBLIC = ("candidates", "shell_scripts")
