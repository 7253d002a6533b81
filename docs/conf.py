"""Settings of Sphinx for `make docs`; `tests/generate/site` writes the pages."""

import swapcli
from tests.generate.site.library_reference import process_docstring, process_signature

project, author = "swapcli", "the swapcli developers"
release = version = swapcli.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "furo"
html_title = "swapcli"
# No page asks another host for anything, and none says how it was made.
html_copy_source = html_show_sourcelink = html_show_sphinx = html_show_copyright = False
exclude_patterns = ["files/**"]

# Options begin with two hyphens, not with a dash.
smartquotes = False

# Anchors of Markdown files, which links between documents name.
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
# `-n` complains of each name that no page documents. Types of signatures are such names where they are not public.
nitpick_ignore_regex = [("py:.*", r"(?!swapcli\.[A-Za-z]+$).*")]


def add_extra_files(app, config):
    # Paths here are relative to this folder, and the file is among the pages that were written.
    config.html_extra_path = [str(app.srcdir / "llms.txt")]


def setup(app):
    app.connect("config-inited", add_extra_files)
    app.connect("autodoc-process-docstring", process_docstring)
    app.connect("autodoc-process-signature", process_signature)
