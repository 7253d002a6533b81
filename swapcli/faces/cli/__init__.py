"""The command line: one file or folder per command, and what they share."""

PUBLIC = ("app", "completion", "overview", "terminal")
