"""Builders, servers and run helpers that tests of several packages share."""
