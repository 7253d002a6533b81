PUBLIC = ("compiled", "embedded", "feed_format", "fields", "format", "network_field", "pools_field", "tokens_field")
