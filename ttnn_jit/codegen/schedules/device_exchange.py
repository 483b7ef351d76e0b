"""The kernel of a collective before `mesh_expansion`, which replaces it by launches that copy and fold."""

from __future__ import annotations

from collections.abc import Mapping

from ttnn_jit.nest.streams import Stream
from ttnn_jit.ops.families.collective import Results
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.target import Numerics


@dataclass(frozen=True, eq=False)
class Exchange:
    """An exchange of tensors between the devices of a mesh.

    Attributes:
        streams: The inputs and outputs on one device.
        numerics: The rounding of folds.
        results: Device number -> its results as expressions over the inputs on all devices.
    """

    streams: tuple[Stream, ...]
    numerics: Numerics
    results: Mapping[int, Results]
    remark = ""
