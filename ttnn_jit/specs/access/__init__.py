"""Where elements of one tensor lie in another: maps, and the loops that walk them."""
