"""Build the page into a folder of static files: `python -m web.build [FOLDER]`, or `make web`.

The folder has Pyodide from `node_modules`, swapcli without its faces as one archive, and the page. Equal sources make
equal files.
"""

from __future__ import annotations

import json
import shutil
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_HERE: Final = Path(__file__).parent
_ROOT: Final = _HERE.parent
_PYODIDE: Final = _HERE / "node_modules" / "pyodide"
_SHARED: Final = _ROOT / "swapcli" / "faces" / "service" / "html"
"""The pages of the service, whose style and helpers this page has too."""
_DEFAULT: Final = _ROOT / "build" / "web"

PYODIDE_FILES: Final = (
    "pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json",
)  # fmt: skip
LEFT_OUT: Final = frozenset({"faces", "testing", "__pycache__"})
"""Folders of swapcli that the page cannot use: they need packages or a server."""

POLICY: Final = (
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "worker-src 'self' blob:",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src blob: data:",
    "base-uri 'none'",
    "form-action 'none'",
)
"""Content Security Policy of the page and its worker. A server may add `frame-ancestors`, which HTML cannot state."""

_LICENCES: Final = """\
This page contains:

swapcli, licence MIT:

{swapcli}

Pyodide {version}, licence {licence}. Its source code: https://github.com/pyodide/pyodide
(the files in the folder pyodide, unchanged, from the npm package pyodide {version}).
The Mozilla Public License 2.0: https://mozilla.org/MPL/2.0/

Python and its standard library, in python_stdlib.zip and pyodide.asm.wasm:
Copyright (c) Python Software Foundation. All rights reserved. The licence: https://docs.python.org/3/license.html
"""


def build(folder: Path) -> None:
    """Write the page into `folder`, which is emptied first. Raises `SystemExit` if Pyodide is not installed."""
    if not _PYODIDE.is_dir():
        raise SystemExit("Pyodide is not installed: run npm ci in the folder web, or make web")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "pyodide").mkdir(parents=True)
    for name in PYODIDE_FILES:
        shutil.copyfile(_PYODIDE / name, folder / "pyodide" / name)
    _write_archive(folder / "swapcli.zip")
    html = _read(_HERE / "page" / "index.html")
    _write(folder / "index.html", html.replace('content=""', f'content="{"; ".join(POLICY)}"', 1))
    for ending in ("css", "js"):
        parts = _SHARED / f"shared.{ending}", _HERE / "page" / f"page.{ending}"
        _write(folder / f"page.{ending}", "".join(map(_read, parts)))
    _write(folder / "worker.js", _read(_HERE / "page" / "worker.js"))
    package = json.loads(_read(_PYODIDE / "package.json"))
    licences = _LICENCES.format(
        swapcli=_read(_ROOT / "LICENSE").strip(), version=package["version"], licence=package["license"]
    )
    _write(folder / "licences.txt", licences)


def _write_archive(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, source in sorted(_archived()):
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), source.read_bytes(), zipfile.ZIP_DEFLATED)


def _archived() -> Iterator[tuple[str, Path]]:
    """Yield the files of the archive with their names there. The checker is where wheels have it."""
    for source in (_ROOT / "swapcli").rglob("*"):
        relative = source.relative_to(_ROOT)
        if source.is_file() and not LEFT_OUT.intersection(relative.parts) and source.suffix != ".md":
            yield relative.as_posix(), source
    for name in ("__init__.py", "bridge.py"):
        yield f"web/{name}", _HERE / name
    yield "swapcli/check_proof.py", _ROOT / "scripts" / "check_proof.py"


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else _DEFAULT
    build(target)
    size = sum(each.stat().st_size for each in target.rglob("*") if each.is_file())
    print(f"{target}: {size / 1e6:.1f} MB; serve it with: python3 -m http.server --bind 127.0.0.1 --directory {target}")
