"""Builders, servers and run helpers shared by the tests of several packages."""
