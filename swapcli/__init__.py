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
    from swapcli.quoting.alternatives import Alternative, AlternativeKind, Comparison, SimulationOutcome
    from swapcli.quoting.async_market import AsyncMarket, aquote
    from swapcli.quoting.backtest import Backtest, BacktestOrder, BacktestQuote, BacktestSummary, OrderSummary
    from swapcli.quoting.depth_result import Depth, DepthLevel, DepthPoint
    from swapcli.quoting.many_quotes import ManyQuote
    from swapcli.quoting.market import Market, quote
    from swapcli.quoting.quote_results import LocalQuote, RemoteQuote
    from swapcli.quoting.swap_quote import PreparedSwap, SwapQuote
    from swapcli.quoting.token_prices import PriceList, TokenPrice
    from swapcli.quoting.verification.hindsight import Hindsight, HindsightSummary, SwapHindsight
    from swapcli.quoting.verification.transaction_verification import Verification

_MODULES = {
    "Alternative": "swapcli.quoting.alternatives",
    "AlternativeKind": "swapcli.quoting.alternatives",
    "ApiVersion": "swapcli.core.model.api_version",
    "AsyncMarket": "swapcli.quoting.async_market",
    "Backtest": "swapcli.quoting.backtest",
    "BacktestOrder": "swapcli.quoting.backtest",
    "BacktestQuote": "swapcli.quoting.backtest",
    "BacktestSummary": "swapcli.quoting.backtest",
    "BlockTag": "swapcli.core.model.block_tag",
    "Certificate": "swapcli.core.model.quote",
    "Comparison": "swapcli.quoting.alternatives",
    "Depth": "swapcli.quoting.depth_result",
    "DepthLevel": "swapcli.quoting.depth_result",
    "DepthPoint": "swapcli.quoting.depth_result",
    "Hindsight": "swapcli.quoting.verification.hindsight",
    "HindsightSummary": "swapcli.quoting.verification.hindsight",
    "LocalQuote": "swapcli.quoting.quote_results",
    "ManyQuote": "swapcli.quoting.many_quotes",
    "Market": "swapcli.quoting.market",
    "Network": "swapcli.core.model.network",
    "Order": "swapcli.core.model.order",
    "OrderSummary": "swapcli.quoting.backtest",
    "PreparedSwap": "swapcli.quoting.swap_quote",
    "PriceImpact": "swapcli.core.model.price_impact",
    "PriceList": "swapcli.quoting.token_prices",
    "QuoteFigures": "swapcli.core.model.quote_figures",
    "QuoteRequest": "swapcli.core.model.quote_request",
    "QuoteWarning": "swapcli.core.model.warning",
    "RemoteQuote": "swapcli.quoting.quote_results",
    "RouteResult": "swapcli.core.model.route_result",
    "SimulationOutcome": "swapcli.quoting.alternatives",
    "StateSource": "swapcli.core.model.state_source",
    "SwapHindsight": "swapcli.quoting.verification.hindsight",
    "SwapQuote": "swapcli.quoting.swap_quote",
    "SwapTerms": "swapcli.core.model.swap_terms",
    "Token": "swapcli.core.model.token",
    "TokenPrice": "swapcli.quoting.token_prices",
    "Verification": "swapcli.quoting.verification.transaction_verification",
    "aquote": "swapcli.quoting.async_market",
    "quote": "swapcli.quoting.market",
}
"""Where each name is, but for the errors."""

__all__ = [
    "Alternative",
    "AlternativeKind",
    "AmbiguousToken",
    "ApiVersion",
    "AsyncMarket",
    "Backtest",
    "BacktestOrder",
    "BacktestQuote",
    "BacktestSummary",
    "BlockMismatch",
    "BlockTag",
    "Cancelled",
    "Certificate",
    "ChainReorganized",
    "Comparison",
    "ConfigError",
    "Depth",
    "DepthLevel",
    "DepthPoint",
    "FeeOnTransfer",
    "Hindsight",
    "HindsightSummary",
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
    "OrderSummary",
    "Overloaded",
    "PoolError",
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
    "SimulationOutcome",
    "SlippageExceeded",
    "SlippageTooHigh",
    "StaleError",
    "StaleNode",
    "StateSource",
    "SwapDiffers",
    "SwapHindsight",
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
    "Verification",
    "__version__",
    "aquote",
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
