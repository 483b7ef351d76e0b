"""What each kind of statement and expression of Python does while a function is compiled."""
