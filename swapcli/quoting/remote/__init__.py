"""Quotes from a remote service that implements the published API.

`service_url` parses the service's URL. `client` sends requests and retries them, `transport_errors` translates
failures, and `service_api` has the endpoints. `response_validation` compares responses with their requests.
"""

PUBLIC = (
    "client",
    "exchange",
    "response_validation",
    "retry",
    "service_api",
    "service_url",
    "transport_errors",
    "url_document",
)
