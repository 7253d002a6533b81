"""Runs of a swap on a node, on hypothetical state: nothing is sent."""
