"""The reader of SmarDex's pairs."""

PUBLIC = ()
