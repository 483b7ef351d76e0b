"""Texts executed literally: every core, loop and DST slot, by numpy, and without any code of codegen."""
