"""How the process starts and ends: every trick that makes a one-shot command fast, with its reason.

A quote takes a few milliseconds, and Python takes longer than that to import a library. Therefore:

* `swapcli --version` is answered before anything else of the program is imported (`main`).
* Completion (`swapcli _complete`) and `swapcli --help` import no Typer.
* The cyclic garbage collector is off in one-shot commands. They create few cycles and many long-lived objects, and
  collecting them would take a fifth of the time. Long-running commands switch it back on
  (`swapcli.faces.garbage_collection`).
* The process ends with `os._exit`. Otherwise the interpreter would first destroy all modules and objects, one by one.
  `swapcli.faces.cli.app.run` has flushed the streams by then, and every command closes what it opened.
* A command line without mistakes and without --help is parsed without Typer (`swapcli.faces.cli.command_app`).
* Only the module of the command that runs is imported (`load_app` there). A command imports inside its functions what
  only some of its runs need: tables, the web server, the client, simulation.
* Modules that only annotations name are imported under `TYPE_CHECKING`.
* Embedded markets come in a compiled form as well, which needs no parser (`swapcli.state.markets.compiled`).
* A few short messages are hashed without the library of the hash function (`swapcli.core.encoding.keccak`).
* Modules of commands have no `from __future__ import annotations`: the options are in the annotations of functions, and
  would have to be evaluated from their text.
* Records on the path of a quote are named tuples of `swapcli.core.records` or dataclasses of
  `swapcli.core.frozen_dataclass`: the standard library generates and compiles code for each of its own. The core
  imports no `typing` either (`swapcli.core.annotations`).

`tests/test_startup.py` lists the modules that a one-shot command may not import.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # importing it from `typing` would take milliseconds
if TYPE_CHECKING:
    from typing import Never


def main() -> None:
    """Run the command line of this process and end the process with its exit status."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from swapcli.core.version import __version__

        print(f"swapcli {__version__}")
        return
    if sys.argv[1:2] == ["_complete"]:
        _complete(sys.argv[2:])
    if sys.argv[1:] in ([], ["-h"], ["--help"]) and _print_overview():
        return
    import gc

    gc.disable()
    try:
        from swapcli.faces.cli.app import run

        status = run(sys.argv[1:])
    except KeyboardInterrupt:  # during the imports; later ones are handled by `run`
        print("error: interrupted", file=sys.stderr, flush=True)
        status = 130
    _exit(status)


def _print_overview() -> bool:
    """Print the page of `swapcli --help`; return False if that fails, which `run` then reports."""
    from swapcli.faces.cli.overview import overview
    from swapcli.faces.cli.terminal import terminal_width

    try:
        print(overview(terminal_width(sys.stdout)), flush=True)
    except (OSError, AttributeError, ValueError):  # the last two occur with a closed stdout
        return False
    return True


def _complete(words: list[str]) -> Never:
    """Print the possible continuations of a command line, for the completion scripts."""
    import os

    from swapcli.faces.cli.completion.candidates import completion_text

    # Bytes: a shell expects UTF-8 in any locale.
    sys.stdout.buffer.write((completion_text(words, os.environ) + "\n").encode(errors="replace"))
    sys.stdout.flush()
    _exit(0)


def _exit(status: int) -> Never:
    """End the process without tearing down the interpreter."""
    import os

    os._exit(status)
