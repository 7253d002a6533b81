"""Readers of Curve's pools."""
