"""`swapcli` and `python -m swapcli`. Answers `--version` before importing anything else."""

from __future__ import annotations

import sys

from swapcli import __version__


def main() -> None:
    """Runs the process's command line and ends the process with its exit status."""
    if sys.argv[1:] == ["--version"]:
        print(f"swapcli {__version__}")
        return
    import gc
    import os

    # A one-shot command makes few cycles and many long-lived objects: collecting them, on the way or when the
    # interpreter takes itself apart, would be a fifth of its time.
    gc.disable()
    try:
        from swapcli.cli.app import run

        status = run(sys.argv[1:])
    except KeyboardInterrupt:  # while the program was still being read; from then on `run` sees to it
        print("error: interrupted", file=sys.stderr, flush=True)
        status = 130
    os._exit(status)


if __name__ == "__main__":
    main()
