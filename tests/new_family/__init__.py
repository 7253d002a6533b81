"""A family that only the tests have, added to a copy of the program: what it takes to add one."""
