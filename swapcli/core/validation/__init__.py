PUBLIC = ("argument_types", "field_reader", "values")
