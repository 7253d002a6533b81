"""The best swap route over liquidity pools, exact to the unit, and the transaction that executes it.

    from swapcli import Market

    with Market.embedded("base") as market:
        quote = market.quote("ETH", "USDC", "1.5")
        print(quote.amount_out, quote.min_received)
        print(quote.transaction(destination="0x1111111111111111111111111111111111111111"))

`Market.live` quotes on the newest block of a node. Amounts as text or `Decimal` are whole tokens, integers are base
units. Importing the package loads nothing else: each name below is loaded when it is first used.
"""

TYPE_CHECKING = False  # importing it from `typing` would take milliseconds
if TYPE_CHECKING:
    from swapcli.core.errors import (
        AmbiguousToken,
        BlockMismatch,
        Cancelled,
        ChainReorganized,
        ConfigError,
        FeeOnTransfer,
        InputOutputError,
        InsufficientBalance,
        InsufficientLiquidity,
        IntegratorError,
        Interrupted,
        InvalidAddress,
        InvalidAmount,
        InvalidDeadline,
        InvalidInput,
        InvalidOption,
        InvalidPoolState,
        InvalidRoute,
        InvalidSlippage,
        InvalidUpstreamResponse,
        LiveUnavailable,
        MarketError,
        MarketUnavailable,
        ModelledState,
        NodesDisagree,
        NoRoute,
        NotMined,
        Overloaded,
        PoolError,
        PriceImpactTooHigh,
        RateLimited,
        RequestBudgetSpent,
        RouteExpired,
        SameToken,
        SimulationError,
        SlippageExceeded,
        SlippageTooHigh,
        StaleError,
        StaleNode,
        SwapcliError,
        SwapDiffers,
        SwapReverts,
        TokenBlocked,
        Unauthorized,
        UnhealthyError,
        UnknownNetwork,
        UnknownProtocol,
        UnknownToken,
        Unreachable,
        UnreadGainTooHigh,
        UnsafeRecipient,
        UnsafeSwap,
        UnusualFees,
        UpstreamError,
        UpstreamRejected,
        UpstreamTimeout,
        VerdictBlocks,
    )
    from swapcli.core.model.api_version import ApiVersion
    from swapcli.core.model.block_tag import BlockTag
    from swapcli.core.model.network import Network
    from swapcli.core.model.order import Order
    from swapcli.core.model.price_impact import PriceImpact
    from swapcli.core.model.quote import Certificate
    from swapcli.core.model.quote_figures import QuoteFigures
    from swapcli.core.model.quote_request import QuoteRequest
    from swapcli.core.model.route_result import RouteResult
    from swapcli.core.model.state_source import StateSource
    from swapcli.core.model.swap_terms import SwapTerms
    from swapcli.core.model.token import Token
    from swapcli.core.model.warning import QuoteWarning
    from swapcli.core.version import __version__
    from swapcli.quoting.async_market import AsyncMarket, aquote
    from swapcli.quoting.many_quotes import ManyQuote
    from swapcli.quoting.market import Market, quote
    from swapcli.quoting.prepared_payload import PreparedRoute
    from swapcli.quoting.quote_results import LocalQuote, RemoteQuote
    from swapcli.quoting.review.decode import decode
    from swapcli.quoting.review.decoded_payload import DecodedPayload
    from swapcli.quoting.swap_quote import PreparedSwap, SwapQuote
    from swapcli.quoting.token_prices import PriceList, TokenPrice

_MODULES = {
    "ApiVersion": "swapcli.core.model.api_version",
    "AsyncMarket": "swapcli.quoting.async_market",
    "BlockTag": "swapcli.core.model.block_tag",
    "Certificate": "swapcli.core.model.quote",
    "DecodedPayload": "swapcli.quoting.review.decoded_payload",
    "LocalQuote": "swapcli.quoting.quote_results",
    "ManyQuote": "swapcli.quoting.many_quotes",
    "Market": "swapcli.quoting.market",
    "Network": "swapcli.core.model.network",
    "Order": "swapcli.core.model.order",
    "PreparedRoute": "swapcli.quoting.prepared_payload",
    "PreparedSwap": "swapcli.quoting.swap_quote",
    "PriceImpact": "swapcli.core.model.price_impact",
    "PriceList": "swapcli.quoting.token_prices",
    "QuoteFigures": "swapcli.core.model.quote_figures",
    "QuoteRequest": "swapcli.core.model.quote_request",
    "QuoteWarning": "swapcli.core.model.warning",
    "RemoteQuote": "swapcli.quoting.quote_results",
    "RouteResult": "swapcli.core.model.route_result",
    "StateSource": "swapcli.core.model.state_source",
    "SwapQuote": "swapcli.quoting.swap_quote",
    "SwapTerms": "swapcli.core.model.swap_terms",
    "Token": "swapcli.core.model.token",
    "TokenPrice": "swapcli.quoting.token_prices",
    "__version__": "swapcli.core.version",
    "aquote": "swapcli.quoting.async_market",
    "decode": "swapcli.quoting.review.decode",
    "quote": "swapcli.quoting.market",
}
"""Where each name is, but for the errors."""

__all__ = [
    "AmbiguousToken",
    "ApiVersion",
    "AsyncMarket",
    "BlockMismatch",
    "BlockTag",
    "Cancelled",
    "Certificate",
    "ChainReorganized",
    "ConfigError",
    "DecodedPayload",
    "FeeOnTransfer",
    "InputOutputError",
    "InsufficientBalance",
    "InsufficientLiquidity",
    "IntegratorError",
    "Interrupted",
    "InvalidAddress",
    "InvalidAmount",
    "InvalidDeadline",
    "InvalidInput",
    "InvalidOption",
    "InvalidPoolState",
    "InvalidRoute",
    "InvalidSlippage",
    "InvalidUpstreamResponse",
    "LiveUnavailable",
    "LocalQuote",
    "ManyQuote",
    "Market",
    "MarketError",
    "MarketUnavailable",
    "ModelledState",
    "Network",
    "NoRoute",
    "NodesDisagree",
    "NotMined",
    "Order",
    "Overloaded",
    "PoolError",
    "PreparedRoute",
    "PreparedSwap",
    "PriceImpact",
    "PriceImpactTooHigh",
    "PriceList",
    "QuoteFigures",
    "QuoteRequest",
    "QuoteWarning",
    "RateLimited",
    "RemoteQuote",
    "RequestBudgetSpent",
    "RouteExpired",
    "RouteResult",
    "SameToken",
    "SimulationError",
    "SlippageExceeded",
    "SlippageTooHigh",
    "StaleError",
    "StaleNode",
    "StateSource",
    "SwapDiffers",
    "SwapQuote",
    "SwapReverts",
    "SwapTerms",
    "SwapcliError",
    "Token",
    "TokenBlocked",
    "TokenPrice",
    "Unauthorized",
    "UnhealthyError",
    "UnknownNetwork",
    "UnknownProtocol",
    "UnknownToken",
    "Unreachable",
    "UnreadGainTooHigh",
    "UnsafeRecipient",
    "UnsafeSwap",
    "UnusualFees",
    "UpstreamError",
    "UpstreamRejected",
    "UpstreamTimeout",
    "VerdictBlocks",
    "__version__",
    "aquote",
    "decode",
    "quote",
]


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:  # type checkers would take it for a promise that every name exists

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_MODULES.get(name, "swapcli.core.errors")), name)
