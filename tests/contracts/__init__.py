"""Real AMM contracts for the tests: their bytecode comes from packages, a small EVM runs it in process."""
