"""The JSON interface in both versions: parsed and rendered, for the service and its client."""
