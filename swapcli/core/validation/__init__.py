PUBLIC = ("field_reader", "values")
