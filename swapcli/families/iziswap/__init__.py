"""iZiSwap pools."""

PUBLIC = ()
