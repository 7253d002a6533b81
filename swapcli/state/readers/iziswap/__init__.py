"""The reader of iZiSwap's pools."""

PUBLIC = ()
