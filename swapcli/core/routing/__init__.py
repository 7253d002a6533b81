"""The routing core: pure, over pools behind their protocol. `Router` quotes orders on one market."""

from swapcli.core.routing.router import Router

__all__ = ["Router"]
