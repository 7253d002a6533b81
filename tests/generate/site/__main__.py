"""`python -m tests.generate.site FOLDER`: write the sources of the site into FOLDER/source, and build FOLDER/html."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.generate.site.pages import ROOT, write_sources


def main() -> int:
    """Build the site. Any warning of Sphinx, such as of a link that leads nowhere, makes it fail."""
    folder = Path(sys.argv[1])
    source = folder / "source"
    shutil.rmtree(source, ignore_errors=True)
    write_sources(source)
    options = ["-W", "--keep-going", "-n", "-q", "-c", str(ROOT / "docs"), "-d", str(folder / "doctrees")]
    built = subprocess.run([sys.executable, "-m", "sphinx", *options, source, folder / "html"], cwd=ROOT, check=False)
    if built.returncode == 0:
        print(folder / "html" / "index.html")
    return built.returncode


if __name__ == "__main__":
    sys.exit(main())
