"""The interface as a service: endpoints over HTTP, keys, limits, metrics, logs, its own description."""
