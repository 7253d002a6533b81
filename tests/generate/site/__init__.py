"""The documents as a site: `python -m tests.generate.site build/docs`, or `make docs`.

Nothing of the site is written by hand. `pages` says which document becomes which page and turns its links; `topics`
makes pages of help topics. The reference is made by `command_reference`, `document_reference` (JSON schemas),
`setting_reference`, `code_reference` (errors and warnings), `library_reference` and `http_reference`. `docs/conf.py`
has the settings of Sphinx.
"""
