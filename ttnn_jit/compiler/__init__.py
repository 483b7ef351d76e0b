"""One compile, and looking into it."""
