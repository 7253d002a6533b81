"""Compare decoded payloads with a fresh quote, and check built payloads on a node."""

PUBLIC = (
    "account_checker", "decode", "decoded_payload", "document_review", "payload_review", "presign_checker",
    "unread_payload", "verdict",
)  # fmt: skip
