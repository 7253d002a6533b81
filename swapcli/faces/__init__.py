"""What people and programs see: the command line and the HTTP service."""

PUBLIC = ("cli",)
