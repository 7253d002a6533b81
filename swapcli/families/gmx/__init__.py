"""Vaults that trade at oracle prices, with fees that depend on the distance from their target weights."""

PUBLIC = ()
