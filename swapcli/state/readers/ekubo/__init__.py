"""The reader of Ekubo's pools."""
