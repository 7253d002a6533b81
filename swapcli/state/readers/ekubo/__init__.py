"""The reader of Ekubo's pools."""

PUBLIC = ("ekubo",)
