"""Models, and idioms of public programs."""
