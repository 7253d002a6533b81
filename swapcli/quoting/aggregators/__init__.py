"""Offers of public aggregators for an order, requested by adapters that are data.

`aggregator_adapter` has the records, `adapter_definitions` parses them: the files of `definitions`, one an aggregator,
and what the settings add. `templates` fills their requests and reads fields of answers; `ask_aggregator` sends the
former and checks the latter.
"""

PUBLIC = ("adapter_definitions", "aggregator_adapter", "ask_aggregator")
