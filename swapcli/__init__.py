"""The best swap route over liquidity pools, exact to the unit, and the transaction that executes it.

    from swapcli import Market

    with Market.embedded("base") as market:
        quote = market.quote("ETH", "USDC", "1.5")
        print(quote.amount_out, quote.min_received)
        print(quote.transaction(destination="0x1111111111111111111111111111111111111111"))

`Market.live` quotes on the newest block of a node. Amounts as text or `Decimal` are whole tokens, integers are base
units. Importing the package loads nothing else: each name below is loaded when it is first used.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False  # importing it from `typing` would take milliseconds
if TYPE_CHECKING:
    from swapcli.api.route_result import RouteResult
    from swapcli.engine.quote_results import LocalQuote, RemoteQuote
    from swapcli.errors import SwapcliError
    from swapcli.library.async_market import AsyncMarket, aquote
    from swapcli.library.market import Market, quote
    from swapcli.library.prepared_swap import PreparedSwap
    from swapcli.library.swap_quote import SwapQuote
    from swapcli.model.api_version import ApiVersion
    from swapcli.model.block_tag import BlockTag
    from swapcli.model.network import Network
    from swapcli.model.order import Order
    from swapcli.model.price_impact import PriceImpact
    from swapcli.model.quote import Certificate
    from swapcli.model.quote_figures import QuoteFigures
    from swapcli.model.quote_request import QuoteRequest
    from swapcli.model.state_source import StateSource
    from swapcli.model.swap_terms import SwapTerms
    from swapcli.model.token import Token
    from swapcli.model.warning import QuoteWarning

_MODULES = {
    "ApiVersion": "swapcli.model.api_version",
    "AsyncMarket": "swapcli.library.async_market",
    "BlockTag": "swapcli.model.block_tag",
    "Certificate": "swapcli.model.quote",
    "LocalQuote": "swapcli.engine.quote_results",
    "Market": "swapcli.library.market",
    "Network": "swapcli.model.network",
    "Order": "swapcli.model.order",
    "PreparedSwap": "swapcli.library.prepared_swap",
    "PriceImpact": "swapcli.model.price_impact",
    "QuoteFigures": "swapcli.model.quote_figures",
    "QuoteRequest": "swapcli.model.quote_request",
    "QuoteWarning": "swapcli.model.warning",
    "RemoteQuote": "swapcli.engine.quote_results",
    "RouteResult": "swapcli.api.route_result",
    "StateSource": "swapcli.model.state_source",
    "SwapQuote": "swapcli.library.swap_quote",
    "SwapTerms": "swapcli.model.swap_terms",
    "SwapcliError": "swapcli.errors",
    "Token": "swapcli.model.token",
    "aquote": "swapcli.library.async_market",
    "quote": "swapcli.library.market",
}

__all__ = [
    "ApiVersion",
    "AsyncMarket",
    "BlockTag",
    "Certificate",
    "LocalQuote",
    "Market",
    "Network",
    "Order",
    "PreparedSwap",
    "PriceImpact",
    "QuoteFigures",
    "QuoteRequest",
    "QuoteWarning",
    "RemoteQuote",
    "RouteResult",
    "StateSource",
    "SwapQuote",
    "SwapTerms",
    "SwapcliError",
    "Token",
    "__version__",
    "aquote",
    "quote",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_MODULES[name]), name)
