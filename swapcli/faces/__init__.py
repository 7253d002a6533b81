"""What people and programs see: the command line, the HTTP service, and pictures of routes."""

PUBLIC = ("cli",)
