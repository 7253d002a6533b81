"""The documents as a site: `python -m tests.generate.site build/docs`, or `make docs`.

Nothing of the site is written by hand. `pages` says which document becomes which page and turns its links, `topics`,
`http_reference` and `library_reference` make pages of help topics, of the OpenAPI document and of the names of the
package, and `docs/conf.py` has the settings of Sphinx.
"""
