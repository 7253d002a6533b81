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
        NoProof,
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
        UncomputableSwap,
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
    from swapcli.core.model.distribution import Distribution
    from swapcli.core.model.finding import Finding
    from swapcli.core.model.market import MarketState
    from swapcli.core.model.network import Network
    from swapcli.core.model.order import Order
    from swapcli.core.model.pool import Pool
    from swapcli.core.model.price_impact import PriceImpact
    from swapcli.core.model.quote import Certificate
    from swapcli.core.model.quote_figures import QuoteFigures
    from swapcli.core.model.quote_request import QuoteRequest
    from swapcli.core.model.route_result import RouteResult
    from swapcli.core.model.router_choice import RouterChoice
    from swapcli.core.model.state_source import StateSource
    from swapcli.core.model.swap_terms import SwapTerms
    from swapcli.core.model.token import Token
    from swapcli.core.model.transaction import Deadline, UnsignedTransaction
    from swapcli.core.routing.router import Router
    from swapcli.core.version import __version__
    from swapcli.faces.service.key_file import ApiKey, CreatedKey, KeyList
    from swapcli.faces.service.keys import KeyStore
    from swapcli.faces.service.service_sources import ReadyService
    from swapcli.families import family
    from swapcli.interface.json_schemas import DocumentList, JsonSchema
    from swapcli.payload.review.reviewed_payload import PayloadReview, ReviewedTransaction
    from swapcli.quoting.account_holdings import Allowance, Holdings, TokenBalance
    from swapcli.quoting.alternatives import Alternative, AlternativeKind, Comparison, SimulationOutcome
    from swapcli.quoting.async_market import AsyncMarket, aquote
    from swapcli.quoting.backtest import Backtest, BacktestOrder, BacktestQuote, BacktestSummary, OrderSummary
    from swapcli.quoting.batch_line import BatchLine
    from swapcli.quoting.config.display import SettingList, SettingRow
    from swapcli.quoting.depth_result import Depth, DepthLevel, DepthPoint
    from swapcli.quoting.document_schemas import schema
    from swapcli.quoting.health import Health
    from swapcli.quoting.many_quotes import ManyQuote
    from swapcli.quoting.market import Market, quote
    from swapcli.quoting.network_check import CheckedFact, FactOutcome, NetworkCheck, check_network
    from swapcli.quoting.network_details import NetworkDefinition, NetworkDetails, network_definition, network_details
    from swapcli.quoting.network_editing import AddedNetwork, RemovedNetwork, add_network, remove_network
    from swapcli.quoting.network_health import HealthReport, health
    from swapcli.quoting.network_list import ListedNetwork, NetworkList, NodeReports, networks, probe_nodes
    from swapcli.quoting.pool_listing import ListedPool, PoolList
    from swapcli.quoting.prepared_payload import PreparedRoute
    from swapcli.quoting.proof import Proof
    from swapcli.quoting.protocol_list import ListedProtocol, ProtocolList, protocols
    from swapcli.quoting.proving.proof_item import ProofItem, ProofOutcome, ProofStage
    from swapcli.quoting.proving.prove import prove
    from swapcli.quoting.proving.prove_report import ProveReport
    from swapcli.quoting.public_venues import PublicVenue, VenueList, public_venues
    from swapcli.quoting.quote_change import FailedRefresh, QuoteChange, WatchedQuote
    from swapcli.quoting.quote_results import LocalQuote, RemoteQuote
    from swapcli.quoting.review.decode import decode
    from swapcli.quoting.review.decoded_payload import DecodedPayload
    from swapcli.quoting.router_deployment import DeploymentPayload, router_deployment
    from swapcli.quoting.slippage_measures import SlippageAdvice
    from swapcli.quoting.stores import (
        ExportedMarket,
        RemovedStore,
        StoreInfo,
        StoreList,
        export_market,
        import_market,
        remove_store,
        store_info,
        stores,
    )
    from swapcli.quoting.swap_check import SwapCheck
    from swapcli.quoting.swap_quote import PreparedSwap, SwapQuote
    from swapcli.quoting.syncing.open_sync import sync
    from swapcli.quoting.syncing.results import ChainStep, SyncResult
    from swapcli.quoting.token_list import ListedToken, TokenList, tokens
    from swapcli.quoting.token_prices import PriceList, TokenPrice
    from swapcli.quoting.user_settings import setting, settings
    from swapcli.quoting.verification.hindsight import Hindsight, HindsightSummary, SwapHindsight
    from swapcli.quoting.verification.recent_verification import (
        RecentSwap,
        RecentVenue,
        RecentVerification,
        VenueStatus,
    )
    from swapcli.quoting.verification.recording import RecordedPool, Recording, SkippedSwap
    from swapcli.quoting.verification.transaction_verification import Verification
    from swapcli.state.mined.swap_verification import VerifiedSwap
    from swapcli.state.rpc.node_checks import NodeReport

_MODULES = {
    "Allowance": "swapcli.quoting.account_holdings",
    "Alternative": "swapcli.quoting.alternatives",
    "AlternativeKind": "swapcli.quoting.alternatives",
    "ApiKey": "swapcli.faces.service.key_file",
    "ApiVersion": "swapcli.core.model.api_version",
    "AsyncMarket": "swapcli.quoting.async_market",
    "Backtest": "swapcli.quoting.backtest",
    "BacktestOrder": "swapcli.quoting.backtest",
    "BacktestQuote": "swapcli.quoting.backtest",
    "BacktestSummary": "swapcli.quoting.backtest",
    "BatchLine": "swapcli.quoting.batch_line",
    "BlockTag": "swapcli.core.model.block_tag",
    "Certificate": "swapcli.core.model.quote",
    "ChainStep": "swapcli.quoting.syncing.results",
    "Comparison": "swapcli.quoting.alternatives",
    "CreatedKey": "swapcli.faces.service.key_file",
    "Deadline": "swapcli.core.model.transaction",
    "DecodedPayload": "swapcli.quoting.review.decoded_payload",
    "DeploymentPayload": "swapcli.quoting.router_deployment",
    "Depth": "swapcli.quoting.depth_result",
    "DepthLevel": "swapcli.quoting.depth_result",
    "DepthPoint": "swapcli.quoting.depth_result",
    "Distribution": "swapcli.core.model.distribution",
    "DocumentList": "swapcli.interface.json_schemas",
    "ExportedMarket": "swapcli.quoting.stores",
    "FailedRefresh": "swapcli.quoting.quote_change",
    "Finding": "swapcli.core.model.finding",
    "Health": "swapcli.quoting.health",
    "HealthReport": "swapcli.quoting.network_health",
    "Hindsight": "swapcli.quoting.verification.hindsight",
    "HindsightSummary": "swapcli.quoting.verification.hindsight",
    "Holdings": "swapcli.quoting.account_holdings",
    "JsonSchema": "swapcli.interface.json_schemas",
    "KeyList": "swapcli.faces.service.key_file",
    "KeyStore": "swapcli.faces.service.keys",
    "ListedNetwork": "swapcli.quoting.network_list",
    "ListedPool": "swapcli.quoting.pool_listing",
    "ListedProtocol": "swapcli.quoting.protocol_list",
    "ListedToken": "swapcli.quoting.token_list",
    "LocalQuote": "swapcli.quoting.quote_results",
    "ManyQuote": "swapcli.quoting.many_quotes",
    "Market": "swapcli.quoting.market",
    "MarketState": "swapcli.core.model.market",
    "Network": "swapcli.core.model.network",
    "NetworkList": "swapcli.quoting.network_list",
    "NodeReport": "swapcli.state.rpc.node_checks",
    "NodeReports": "swapcli.quoting.network_list",
    "Order": "swapcli.core.model.order",
    "OrderSummary": "swapcli.quoting.backtest",
    "PayloadReview": "swapcli.payload.review.reviewed_payload",
    "Pool": "swapcli.core.model.pool",
    "PoolList": "swapcli.quoting.pool_listing",
    "PreparedRoute": "swapcli.quoting.prepared_payload",
    "PreparedSwap": "swapcli.quoting.swap_quote",
    "PriceImpact": "swapcli.core.model.price_impact",
    "PriceList": "swapcli.quoting.token_prices",
    "Proof": "swapcli.quoting.proof",
    "ProofItem": "swapcli.quoting.proving.proof_item",
    "ProofOutcome": "swapcli.quoting.proving.proof_item",
    "ProofStage": "swapcli.quoting.proving.proof_item",
    "ProtocolList": "swapcli.quoting.protocol_list",
    "ProveReport": "swapcli.quoting.proving.prove_report",
    "PublicVenue": "swapcli.quoting.public_venues",
    "QuoteChange": "swapcli.quoting.quote_change",
    "QuoteFigures": "swapcli.core.model.quote_figures",
    "RouterChoice": "swapcli.core.model.router_choice",
    "QuoteRequest": "swapcli.core.model.quote_request",
    "ReadyService": "swapcli.faces.service.service_sources",
    "RecentSwap": "swapcli.quoting.verification.recent_verification",
    "RecentVenue": "swapcli.quoting.verification.recent_verification",
    "RecentVerification": "swapcli.quoting.verification.recent_verification",
    "RecordedPool": "swapcli.quoting.verification.recording",
    "Recording": "swapcli.quoting.verification.recording",
    "RemoteQuote": "swapcli.quoting.quote_results",
    "RemovedStore": "swapcli.quoting.stores",
    "ReviewedTransaction": "swapcli.payload.review.reviewed_payload",
    "RouteResult": "swapcli.core.model.route_result",
    "Router": "swapcli.core.routing.router",
    "SettingList": "swapcli.quoting.config.display",
    "SettingRow": "swapcli.quoting.config.display",
    "SimulationOutcome": "swapcli.quoting.alternatives",
    "SkippedSwap": "swapcli.quoting.verification.recording",
    "SlippageAdvice": "swapcli.quoting.slippage_measures",
    "StateSource": "swapcli.core.model.state_source",
    "StoreInfo": "swapcli.quoting.stores",
    "StoreList": "swapcli.quoting.stores",
    "SwapCheck": "swapcli.quoting.swap_check",
    "SwapHindsight": "swapcli.quoting.verification.hindsight",
    "SwapQuote": "swapcli.quoting.swap_quote",
    "SwapTerms": "swapcli.core.model.swap_terms",
    "SyncResult": "swapcli.quoting.syncing.results",
    "Token": "swapcli.core.model.token",
    "TokenBalance": "swapcli.quoting.account_holdings",
    "TokenList": "swapcli.quoting.token_list",
    "TokenPrice": "swapcli.quoting.token_prices",
    "UnsignedTransaction": "swapcli.core.model.transaction",
    "VenueList": "swapcli.quoting.public_venues",
    "VenueStatus": "swapcli.quoting.verification.recent_verification",
    "Verification": "swapcli.quoting.verification.transaction_verification",
    "VerifiedSwap": "swapcli.state.mined.swap_verification",
    "WatchedQuote": "swapcli.quoting.quote_change",
    "__version__": "swapcli.core.version",
    "aquote": "swapcli.quoting.async_market",
    "decode": "swapcli.quoting.review.decode",
    "export_market": "swapcli.quoting.stores",
    "family": "swapcli.families",
    "health": "swapcli.quoting.network_health",
    "import_market": "swapcli.quoting.stores",
    "networks": "swapcli.quoting.network_list",
    "probe_nodes": "swapcli.quoting.network_list",
    "protocols": "swapcli.quoting.protocol_list",
    "prove": "swapcli.quoting.proving.prove",
    "public_venues": "swapcli.quoting.public_venues",
    "quote": "swapcli.quoting.market",
    "remove_store": "swapcli.quoting.stores",
    "router_deployment": "swapcli.quoting.router_deployment",
    "schema": "swapcli.quoting.document_schemas",
    "setting": "swapcli.quoting.user_settings",
    "settings": "swapcli.quoting.user_settings",
    "store_info": "swapcli.quoting.stores",
    "stores": "swapcli.quoting.stores",
    "sync": "swapcli.quoting.syncing.open_sync",
    "tokens": "swapcli.quoting.token_list",
    "AddedNetwork": "swapcli.quoting.network_editing",
    "RemovedNetwork": "swapcli.quoting.network_editing",
    "add_network": "swapcli.quoting.network_editing",
    "remove_network": "swapcli.quoting.network_editing",
    "NetworkDetails": "swapcli.quoting.network_details",
    "NetworkDefinition": "swapcli.quoting.network_details",
    "network_details": "swapcli.quoting.network_details",
    "network_definition": "swapcli.quoting.network_details",
    "CheckedFact": "swapcli.quoting.network_check",
    "FactOutcome": "swapcli.quoting.network_check",
    "NetworkCheck": "swapcli.quoting.network_check",
    "check_network": "swapcli.quoting.network_check",
}
"""Where each name is, but for the errors."""

__all__ = [
    "AddedNetwork",
    "Allowance",
    "Alternative",
    "AlternativeKind",
    "AmbiguousToken",
    "ApiKey",
    "ApiVersion",
    "AsyncMarket",
    "Backtest",
    "BacktestOrder",
    "BacktestQuote",
    "BacktestSummary",
    "BatchLine",
    "BlockMismatch",
    "BlockTag",
    "Cancelled",
    "Certificate",
    "ChainReorganized",
    "ChainStep",
    "CheckedFact",
    "Comparison",
    "ConfigError",
    "CreatedKey",
    "Deadline",
    "DecodedPayload",
    "DeploymentPayload",
    "Depth",
    "DepthLevel",
    "DepthPoint",
    "Distribution",
    "DocumentList",
    "ExportedMarket",
    "FactOutcome",
    "FailedRefresh",
    "FeeOnTransfer",
    "Finding",
    "Health",
    "HealthReport",
    "Hindsight",
    "HindsightSummary",
    "Holdings",
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
    "JsonSchema",
    "KeyList",
    "KeyStore",
    "ListedNetwork",
    "ListedPool",
    "ListedProtocol",
    "ListedToken",
    "LiveUnavailable",
    "LocalQuote",
    "ManyQuote",
    "Market",
    "MarketError",
    "MarketState",
    "MarketUnavailable",
    "ModelledState",
    "Network",
    "NetworkCheck",
    "NetworkDefinition",
    "NetworkDetails",
    "NetworkList",
    "NoProof",
    "NoRoute",
    "NodeReport",
    "NodeReports",
    "NodesDisagree",
    "NotMined",
    "Order",
    "OrderSummary",
    "Overloaded",
    "PayloadReview",
    "Pool",
    "PoolError",
    "PoolList",
    "PreparedRoute",
    "PreparedSwap",
    "PriceImpact",
    "PriceImpactTooHigh",
    "PriceList",
    "Proof",
    "ProofItem",
    "ProofOutcome",
    "ProofStage",
    "ProtocolList",
    "ProveReport",
    "PublicVenue",
    "QuoteChange",
    "QuoteFigures",
    "QuoteRequest",
    "RateLimited",
    "ReadyService",
    "RecentSwap",
    "RecentVenue",
    "RecentVerification",
    "RecordedPool",
    "Recording",
    "RemoteQuote",
    "RemovedNetwork",
    "RemovedStore",
    "RequestBudgetSpent",
    "ReviewedTransaction",
    "RouteExpired",
    "RouteResult",
    "Router",
    "RouterChoice",
    "SameToken",
    "SettingList",
    "SettingRow",
    "SimulationError",
    "SimulationOutcome",
    "SkippedSwap",
    "SlippageAdvice",
    "SlippageExceeded",
    "SlippageTooHigh",
    "StaleError",
    "StaleNode",
    "StateSource",
    "StoreInfo",
    "StoreList",
    "SwapCheck",
    "SwapDiffers",
    "SwapHindsight",
    "SwapQuote",
    "SwapReverts",
    "SwapTerms",
    "SwapcliError",
    "SyncResult",
    "Token",
    "TokenBalance",
    "TokenBlocked",
    "TokenList",
    "TokenPrice",
    "Unauthorized",
    "UncomputableSwap",
    "UnhealthyError",
    "UnknownNetwork",
    "UnknownProtocol",
    "UnknownToken",
    "Unreachable",
    "UnreadGainTooHigh",
    "UnsafeRecipient",
    "UnsafeSwap",
    "UnsignedTransaction",
    "UnusualFees",
    "UpstreamError",
    "UpstreamRejected",
    "UpstreamTimeout",
    "VenueList",
    "VenueStatus",
    "VerdictBlocks",
    "Verification",
    "VerifiedSwap",
    "WatchedQuote",
    "__version__",
    "add_network",
    "aquote",
    "check_network",
    "decode",
    "export_market",
    "family",
    "health",
    "import_market",
    "network_definition",
    "network_details",
    "networks",
    "probe_nodes",
    "protocols",
    "prove",
    "public_venues",
    "quote",
    "remove_network",
    "remove_store",
    "router_deployment",
    "schema",
    "setting",
    "settings",
    "store_info",
    "stores",
    "sync",
    "tokens",
]


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:  # type checkers would take it for a promise that every name exists

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_MODULES.get(name, "swapcli.core.errors")), name)
