"""Jitted functions and their calls.

`@jit` makes a `JitFunction` (`calls/jit_function.py`). A function with positional parameters only has a fast path
(`calls/fast_path.py`): first an inline cache of the latest programs (`calls/inline_cache.py`), which compare metadata
and constants themselves, then a table by metadata. Other calls take the slow path: arguments are bound to parameters
(`calls/function_signature.py`), and a variant is searched (`calls/variants.py`), a program whose *guards* hold. If
there is none, `calls/first_call.py` calls the compiler. Instances of methods, and arguments that are objects of the
user's, have a jitted function of their own (`calls/bound_functions.py`), whose guards reach the objects
(`guards/bound_objects.py`). `calls/fallback.py` and `calls/tile_op.py` are variants of the decorator.
"""
