"""Tests of reviews beside fresh quotes."""
