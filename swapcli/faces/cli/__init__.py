"""The command line: one file per command, and what they share."""

PUBLIC = ("app", "completion", "overview", "terminal")
