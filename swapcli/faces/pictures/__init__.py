"""Pictures of a route, drawn from its flow."""
