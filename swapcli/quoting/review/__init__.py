"""Compare payloads with a market: given ones with a fresh quote, built ones with a node."""

PUBLIC = (
    "account_checker", "decode", "decoded_payload", "document_review", "payload_review", "presign_checker",
    "unread_payload", "verdict",
)  # fmt: skip
