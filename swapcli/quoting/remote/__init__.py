"""Quotes from a service that implements the published API.

`service_url` parses the URL of the service, `client` sends requests and retries them, `errors` translates failures,
`service_api` knows the endpoints, `response_validation` compares responses with what was requested.
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
