"""The generators' Python environment: `python -m tests.faces.service.generated_clients.environment` installs it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.support.tool_environment import tool_python

REQUIREMENTS: Final = Path(__file__).with_name("requirements.txt")


def generators_python() -> str:
    """Return the interpreter that has the generators; install them first if that has not been done."""
    return str(tool_python("generators", REQUIREMENTS))


if __name__ == "__main__":
    generators_python()
