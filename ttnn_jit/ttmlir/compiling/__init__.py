"""``ttmlir.compile_and_run`` and its neighbours: one function per step from a text to a run.

tt-mlir runs each step in a process of its own, which a crash of C++ ends. Here a step is Python, and runs in this one.
"""
