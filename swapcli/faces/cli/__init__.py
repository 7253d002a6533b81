"""The command line: one file per command, and what they share."""

PUBLIC = ("app", "command_app", "completion", "overview", "terminal")
