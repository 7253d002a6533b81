"""Clients that others' generators make of the service's OpenAPI document, used against a real server."""
