"""The reader of DODO's pools."""

PUBLIC = ()
