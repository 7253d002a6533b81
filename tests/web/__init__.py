"""The page that needs no installation, in a real Chromium, from a plain static server."""
