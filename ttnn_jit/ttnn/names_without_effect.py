"""Names of ttnn that have no effect here, each with its reason; and what the error for a missing name says."""

from __future__ import annotations

from collections.abc import Iterable

_NO_DISPATCH = "a CPU has no dispatch cores"
_NO_LINKS = "there are no links between chips"
_NO_WAIT = "every call returns when its work is done"

WITHOUT_EFFECT = {
    "DispatchCoreAxis": _NO_DISPATCH,
    "DispatchCoreConfig": _NO_DISPATCH,
    "DispatchCoreType": _NO_DISPATCH,
    "FabricConfig": _NO_LINKS,
    "FabricReliabilityMode": _NO_LINKS,
    "FabricTensixConfig": _NO_LINKS,
    "MathFidelity": "printed on kernels and part of the cache key; CPU arithmetic is that of HiFi4",
    "set_fabric_config": _NO_LINKS,
    "synchronize_device": _NO_WAIT,
}
"""Name that is accepted -> why it has no effect."""


def unknown_name(name: str, known: Iterable[str]) -> AttributeError:
    """The error for a name that the namespace lacks: the reason, if ttnn has it, else names that differ by one slip."""
    from ttnn_jit.ops.public_names import names_within_a_slip, why_absent

    missing = f"module 'ttnn_jit.ttnn' has no attribute {name!r}"
    if reason := why_absent(name):
        return AttributeError(f"{missing}: {reason}", name=name)
    near = names_within_a_slip(name, known)
    hint = f"; did you mean {' or '.join(f'`{n}`' for n in near)}?" if near else ""
    return AttributeError(f"{missing}{hint}", name=name)
