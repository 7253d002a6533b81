"""Vaults that trade at the prices of an oracle, with fees by how far they are from their target weights."""

PUBLIC = ()
