"""The reader of Maverick V2's pools."""

PUBLIC = ()
