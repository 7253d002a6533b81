"""Offers of public aggregators for an order, requested by adapters that are data, not code.

`aggregator_adapter` has the records. `adapter_definitions` parses them from the files in `definitions`, one per
aggregator, and from the settings. `templates` fills in requests and reads fields of responses; `ask_aggregator` sends
the requests and checks the responses.
"""

PUBLIC = ("adapter_definitions", "aggregator_adapter", "ask_aggregator")
