"""Compare payloads with a market: given ones with a fresh quote, built ones with a node."""

PUBLIC = (
    "decode",
    "document_review",
    "node_warnings",
    "payload_review",
    "presign_checker",
    "unread_payload",
    "verdict",
)
