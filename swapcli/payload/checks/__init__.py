"""Check a payload before it is signed, and find what makes it dangerous."""

PUBLIC = ("payments", "payload_findings", "presign_checks", "recipients", "settlement", "simulated_variants")
