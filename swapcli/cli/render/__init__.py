"""Results as tables, plain text and JSON. Views hold the words; `terminal` and `plain` lay them out."""
