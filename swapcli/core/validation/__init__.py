PUBLIC = ("durations", "field_reader", "values")
