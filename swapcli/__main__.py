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

    # A one-shot command makes few cycles and many long-lived objects: collections would only cost start-up time.
    gc.disable()
    from swapcli.cli.app import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
