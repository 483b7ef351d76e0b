"""Creating and changing ops, several times faster than xDSL's own functions."""
