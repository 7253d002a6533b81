"""Payloads beside a fresh quote of the same order: what they say, whether they are right, and what was mined."""
