"""Pools whose price comes from an oracle or their operator: Lunarbase, LFJ's POE, and Mento's FPMM."""

PUBLIC = ()
