"""Readers of Curve's pools."""

PUBLIC = ()
