"""Results as tables, plain text and JSON. Views hold the words; `terminal_tables` and `plain` lay them out."""
