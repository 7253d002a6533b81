"""Compare payloads with a market: given payloads with a fresh quote, built ones on a node."""

PUBLIC = (
    "account_checker", "decode", "decoded_payload", "document_review", "payload_review", "presign_checker",
    "unread_payload", "verdict",
)  # fmt: skip
