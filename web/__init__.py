"""swapcli as a page that needs no installation: `build` makes its folder, `bridge` answers it in the browser's Python.

`page` has the HTML, the style and the scripts. `make web` builds it, `docs/page.md` says how to serve it.
"""
