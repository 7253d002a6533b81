"""Results as tables, plain text and JSON. Views hold the words; `table` and `plain` lay them out."""
