"""Jitted functions and their calls.

`@jit` makes a `JitFunction` (`calls/jit_function.py`). A function whose parameters all have a position has a fast
path (`calls/fast_path.py`): an inline cache of the programs that came last (`calls/inline_cache.py`), which compare
metadata and constants themselves, then a table by metadata. Where that does not apply, a call is bound
(`calls/function_signature.py`) and its variants are looked through (`calls/variants.py`): programs whose *guards* say
that what the compile read is as it was. If there is none, `calls/first_call.py` asks the compiler. Instances of
methods, and arguments that are objects of the user's, have a jitted function of their own
(`calls/bound_functions.py`), whose guards reach them (`guards/bound_objects.py`); `calls/fallback.py` and
`calls/tile_op.py` are the decorator's other forms.
"""
