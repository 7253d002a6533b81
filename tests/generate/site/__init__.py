"""The documents as a site: `python -m tests.generate.site build/docs`, or `make docs`.

Nothing of the site is written by hand. `pages` says which document becomes which page and turns its links; `topics`,
`command_reference`, `library_reference` and `http_reference` make pages of help topics, of the commands' help, of the
names of the package and of the OpenAPI document; `docs/conf.py` has the settings of Sphinx.
"""
