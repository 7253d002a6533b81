"""The reader of EulerSwap's pools."""

PUBLIC = ()
