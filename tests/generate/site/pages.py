"""The pages of the site, made from the documents of the repository, with links between pages instead of files."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from swapcli.faces.cli.help_topics import ORDER, TOPICS
from tests.generate.llms_text import llms_text
from tests.generate.site.code_reference import codes_page
from tests.generate.site.command_reference import commands_page
from tests.generate.site.document_reference import documents_page
from tests.generate.site.http_reference import http_page
from tests.generate.site.library_reference import library_page
from tests.generate.site.setting_reference import settings_page
from tests.generate.site.topics import topic_page

ROOT = Path(__file__).parents[3]

_TREE = """
```{toctree}
:hidden:
:caption: Learn

tutorial
how-to/index
topics/index
```

```{toctree}
:hidden:
:caption: Reference

commands
documents
settings
codes
library
importing
http
core
pools
market-files
network-keys
operations
```

```{toctree}
:hidden:
:caption: Background

exactness
protocol-tests
proof
planning
aggregators
adapters
venues
page
benchmarks
reading-benchmarks
security
threat-model
versions
changelog
```

```{toctree}
:hidden:
:caption: Developing swapcli

architecture
contributing
glossary
families
plugins
decisions/index
releasing
history
```
"""
_LINK = re.compile(r"(!?)\[((?:[^][]|\[[^][]*\])*)\]\(([^)\s]+)\)")


def documents() -> dict[str, str]:
    """Return the pages, without their ending, by the document of the repository that each of them is made from."""
    return {
        "README.md": "index",
        **{f"{TOPICS.relative_to(ROOT).as_posix()}/{topic}.txt": f"topics/{topic}" for topic in ORDER},
        "docs/tutorial.md": "tutorial",
        **_pages_of("docs/how-to", "how-to"),
        "docs/importing.md": "importing",
        "docs/core.md": "core",
        "docs/pools.md": "pools",
        "docs/market-files.md": "market-files",
        "docs/network-keys.md": "network-keys",
        "docs/protocol-tests.md": "protocol-tests",
        "docs/operations.md": "operations",
        "docs/exactness.md": "exactness",
        "docs/venues.md": "venues",
        "docs/proof.md": "proof",
        "docs/page.md": "page",
        "docs/planning.md": "planning",
        "docs/aggregators.md": "aggregators",
        "docs/adapters.md": "adapters",
        "BENCHMARKS.md": "benchmarks",
        "bench/README.md": "reading-benchmarks",
        "bench/HISTORY.md": "history",
        "CHANGELOG.md": "changelog",
        "docs/versions.md": "versions",
        "SECURITY.md": "security",
        "docs/threat-model.md": "threat-model",
        "ARCHITECTURE.md": "architecture",
        "CONTRIBUTING.md": "contributing",
        "docs/glossary.md": "glossary",
        "docs/families.md": "families",
        "docs/plugins.md": "plugins",
        "docs/releasing.md": "releasing",
        **_pages_of("docs/decisions", "decisions"),
    }


def _pages_of(folder: str, name: str) -> dict[str, str]:
    """Return the pages of a folder; its README is their index."""
    files = sorted((ROOT / folder).glob("*.md"))
    return {f"{folder}/{file.name}": f"{name}/{'index' if file.stem == 'README' else file.stem}" for file in files}


def pages() -> Iterator[tuple[str, str]]:
    """Yield the path of each page with its text. Raises `ValueError` if a link of a document leads nowhere."""
    names = documents()
    for document, name in names.items():
        text = (ROOT / document).read_text()
        if document.endswith(".txt"):
            yield f"{name}.md", topic_page(text)
            continue
        text = _with_page_links(document, text, names)
        if name == "index":
            text += _TREE
        elif name.endswith("/index"):
            folder = name.removesuffix("index")
            others = [page.removeprefix(folder) for page in names.values() if page.startswith(folder)]
            text += _tree(page for page in others if page != "index")
        yield f"{name}.md", text
    yield "topics/index.md", _topics_index()
    yield "commands.md", commands_page()
    yield "documents.md", documents_page()
    yield "settings.md", settings_page()
    yield "codes.md", codes_page()
    yield "library.rst", library_page()
    yield "http.md", http_page()


def write_sources(folder: Path) -> None:
    """Write the pages into a folder, and below `files` the other files that they link to."""
    for path, text in pages():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (folder / "llms.txt").write_text(llms_text(lambda path: f"{documents()[path]}.html"))
    for document in documents():
        for target in _file_targets(document):
            copy = folder / "files" / target
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / target, copy)


def _topics_index() -> str:
    titles = {topic: (TOPICS / f"{topic}.txt").read_text().partition("\n")[0] for topic in ORDER}
    rows = "\n".join(f"* [{title}]({topic}.md): `swapcli help {topic}`" for topic, title in titles.items())
    return f"# Topics\n\n{rows}\n{_tree(ORDER)}"


def _tree(names: Iterable[str]) -> str:
    return "\n```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```\n"


def _with_page_links(document: str, text: str, names: Mapping[str, str]) -> str:
    """Let each link lead to the page of its document, or to a copy of its file; links to folders become plain text."""

    def replace(found: re.Match[str]) -> str:
        mark, label, target = found.groups()
        if ":" in target or target.startswith("#"):
            return found[0]
        path, hash_mark, anchor = target.partition("#")
        file = _resolve(document, path)
        here = PurePosixPath(names[document]).parent
        if file in names:
            return f"{mark}[{label}]({os.path.relpath(f'{names[file]}.md', here)}{hash_mark}{anchor})"
        if (ROOT / file).is_dir():
            return label
        return f"{mark}[{label}]({os.path.relpath(f'files/{file}', here)})"

    return _LINK.sub(replace, text)


def _file_targets(document: str) -> Iterator[str]:
    """Yield the files of the repository that a document links to and that are no pages."""
    names = documents()
    if document.endswith(".md"):
        for _, _, target in _LINK.findall((ROOT / document).read_text()):
            path = target.partition("#")[0]
            if path and ":" not in target:
                file = _resolve(document, path)
                if file not in names and (ROOT / file).is_file():
                    yield file


def _resolve(document: str, path: str) -> str:
    file = os.path.normpath(os.path.join(os.path.dirname(document), path))
    if not (ROOT / file).exists():
        raise ValueError(f"{document}: there is no {path}")
    return file
