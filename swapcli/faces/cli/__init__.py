"""The command line: one file or folder per command, and shared modules."""

PUBLIC = ("app", "completion", "overview", "terminal")
