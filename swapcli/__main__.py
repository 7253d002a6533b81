"""The entry point of `swapcli` and `python -m swapcli`."""

from __future__ import annotations

from swapcli.startup import main

if __name__ == "__main__":
    main()
