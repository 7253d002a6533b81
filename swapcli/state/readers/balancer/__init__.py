"""Readers of pools in Balancer's vaults."""

PUBLIC = ()
