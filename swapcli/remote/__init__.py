"""A service of the published interface, asked over HTTP.

`service_url` knows the endpoints, `client` sends what they need and repeats what may be repeated, `transport` keeps
each
exchange within its time, `body` within its size; `failures` says in a sentence what went wrong, `pacing` how long to
wait, `address` where the service is; `agreement` holds answers to what was asked.
"""
