"""Payloads beside what a market knows: what was given beside a fresh quote, what was built on a node."""

PUBLIC = ("document_review", "node_warnings", "payload_review", "presign_checker", "unread_payload", "verdict")
