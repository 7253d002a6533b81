"""The reader of Fluid's pools."""

PUBLIC = ()
