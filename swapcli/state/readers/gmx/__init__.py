"""Readers of vaults that trade at the prices of an oracle."""

PUBLIC = ()
