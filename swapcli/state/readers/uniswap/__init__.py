"""Readers of constant product pairs and of concentrated liquidity."""
