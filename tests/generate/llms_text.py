"""llms.txt: where a language model finds what, from the same sources as the help.

`python -m tests.generate.llms_text` writes that of the repository; the site of `make docs` has one with links to its
pages.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from swapcli.faces.cli.help_topics import ORDER, TOPICS, topic_text
from swapcli.faces.cli.overview import PANELS, PURPOSE
from swapcli.faces.cli.tools.skill import INSTRUCTIONS
from swapcli.faces.cli.tools.tool_table import TOOLS

ROOT = Path(__file__).parents[2]
FILE = ROOT / "llms.txt"
_ABOUT = (
    "A command, a Python library, an HTTP service and tools for agents. It never signs or sends anything. `swapcli"
    " COMMAND --help` explains a command, `swapcli help TOPIC` a topic, `swapcli schema DOCUMENT` the JSON that a"
    " command prints, and `swapcli mcp --print-skill` the work with its tools."
)
_DOCUMENTS = ("README.md", "docs/exactness.md", "BENCHMARKS.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")


def llms_text(link: Callable[[str], str] = str) -> str:
    """Return the file; `link` makes a link of the path of a document of the repository."""
    lines = ["# swapcli", "", f"> {PURPOSE}", "", _ABOUT, "", "## Help topics", ""]
    for topic in ORDER:
        path = (TOPICS / f"{topic}.txt").relative_to(ROOT).as_posix()
        lines.append(f"- [{topic_text(topic).partition(chr(10))[0]}]({link(path)}): `swapcli help {topic}`")
    lines += ["", "## Documents", ""]
    lines += [f"- [{_title(document)}]({link(document)})" for document in _DOCUMENTS]
    lines += ["", "## Commands", ""]
    lines += [f"- `swapcli {name}`: {text}" for panel in PANELS.values() for name, text in panel.items()]
    lines += ["", "## Tools for agents, by swapcli mcp", ""]
    lines += [f"- `{tool.name}`: {tool.description}" for tool in TOOLS]
    lines += ["", "## Rules for agents", "", *(f"- {each}" for each in INSTRUCTIONS)]
    return "\n".join(lines) + "\n"


def _title(document: str) -> str:
    return (ROOT / document).read_text().partition("\n")[0].removeprefix("# ")


if __name__ == "__main__":
    FILE.write_text(llms_text())
