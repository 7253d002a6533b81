"""The model behind the embedded markets: tables of prices, tokens and depths, and one shape per pool family.

`python -m tests.generate.markets` runs it. Every number is an integer or a decimal of fixed precision, and
random numbers come from a hash, so the same tables give the same bytes on every machine.
"""
