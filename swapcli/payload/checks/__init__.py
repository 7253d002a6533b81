"""Checks of a payload before it is signed, and what makes it dangerous."""

PUBLIC = ("dangers", "payments", "presign_checks", "recipients", "simulated_variants")
