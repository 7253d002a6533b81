"""Request offers for an order from public aggregators, by means of adapters that are data, not code.

`aggregator_adapter` defines the adapters as records. `adapter_definitions` parses adapters from the files in
`definitions`, one per aggregator, and from the settings. `templates` fills in requests and reads fields in responses.
`ask_aggregator` sends the requests and checks the responses.
"""

PUBLIC = ("adapter_definitions", "aggregator_adapter", "ask_aggregator")
