"""What only a node knows of a transaction before it is signed: nonce, gas and fees."""

PUBLIC = ("deadlines", "signing_fields", "signing_limits", "signing_values")
