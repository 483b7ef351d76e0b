"""The types of a loop nest, shared by the passes that choose loops and the writers that emit them.

`streams.py` describes a kernel's operands, `buffers.py` the stack buffers of sweeps, and `limits.py` the extents and
sizes that writers support and plans must respect.
"""
