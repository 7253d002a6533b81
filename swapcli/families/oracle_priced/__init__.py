"""Pools whose price an oracle or their operator sets: Lunarbase, LFJ's POE, and Mento's FPMM."""

PUBLIC = ()
