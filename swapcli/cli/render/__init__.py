"""The same facts as a table on a terminal, as plain text, and as JSON."""
