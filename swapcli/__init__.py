"""The best swap route over liquidity pools, exact to the unit, and the transaction that executes it.

    import swapcli

    source = swapcli.open_quote_source("base")
    order = swapcli.Order(source.token("ETH"), source.token("USDC"), 10**18)
    quote = source.quote(swapcli.QuoteRequest(order, swapcli.ApiVersion.V2))
    print(quote.result.output_amount)

Importing the package loads nothing else: each name below is loaded when it is first used.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False  # importing it from `typing` would take milliseconds
if TYPE_CHECKING:
    from swapcli.engine.quote_results import LocalQuote, RemoteQuote
    from swapcli.engine.sources.quote_source import QuoteSource
    from swapcli.errors import SwapcliError
    from swapcli.library import open_quote_source
    from swapcli.model.api_version import ApiVersion
    from swapcli.model.order import Order
    from swapcli.model.quote_request import QuoteRequest
    from swapcli.model.state_source import StateSource
    from swapcli.model.swap_terms import SwapTerms
    from swapcli.model.transaction import UnsignedTransaction

_MODULES = {
    "ApiVersion": "swapcli.model.api_version",
    "LocalQuote": "swapcli.engine.quote_results",
    "Order": "swapcli.model.order",
    "QuoteRequest": "swapcli.model.quote_request",
    "QuoteSource": "swapcli.engine.sources.quote_source",
    "RemoteQuote": "swapcli.engine.quote_results",
    "StateSource": "swapcli.model.state_source",
    "SwapTerms": "swapcli.model.swap_terms",
    "SwapcliError": "swapcli.errors",
    "UnsignedTransaction": "swapcli.model.transaction",
    "open_quote_source": "swapcli.library",
}

__all__ = [
    "ApiVersion",
    "LocalQuote",
    "Order",
    "QuoteRequest",
    "QuoteSource",
    "RemoteQuote",
    "StateSource",
    "SwapTerms",
    "SwapcliError",
    "UnsignedTransaction",
    "__version__",
    "open_quote_source",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_MODULES[name]), name)
