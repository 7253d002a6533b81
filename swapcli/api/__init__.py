"""The JSON of both generations of the interface: parse and render, for whoever speaks it."""
