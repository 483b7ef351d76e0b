"""Reference interpreters of the IR in numpy: every core, loop and DST slot is executed, without code of codegen."""
