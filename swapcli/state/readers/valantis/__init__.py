"""The reader of Valantis' pools."""

PUBLIC = ()
