"""What is signed: reading payloads, checking them, and the verdict on them."""
