"""Events: what ran, as typed records for whoever listens.

`run_events.py` declares the events: a stage of a compile, a native call, an operation, a jitted call, a collective, a
remark of a pass.
`listeners.py` holds the listeners of this process and passes events to them. The rooms where things happen emit them:
the compiler its stages, `runtime/programs` its native calls, `dispatch/operation_events.py` calls of operations, and
`compiler/texts` the ops of a text. Without a listener none is made.
"""
