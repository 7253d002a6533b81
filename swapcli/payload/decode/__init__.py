"""Read the input of swapcli decode: calldata, documents, transactions of wallets and shells."""

PUBLIC = ("decode_payload", "documents", "given_transaction", "quantities", "shell_grammar", "transaction_list")
