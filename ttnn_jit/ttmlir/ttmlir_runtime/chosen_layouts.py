"""``_ttmlir_runtime.runtime.test``: layouts that tests of the runtime choose. Shared objects are programs of C++."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from ttnn_jit.ttmlir.ttmlir_runtime.data_types import DataType
from ttnn_jit.ttmlir.ttmlir_runtime.tensor_layouts import Layout


def get_dram_interleaved_tile_layout(dtype: DataType) -> Layout:
    """Tiles, interleaved in DRAM."""
    return Layout(dtype, (32, 32), "DRAM", "Interleaved")


def get_dram_interleaved_row_major_layout(dtype: DataType) -> Layout:
    """Rows, interleaved in DRAM."""
    return Layout(dtype, (1, 1), "DRAM", "Interleaved")


def get_host_row_major_layout(dtype: DataType) -> Layout:
    """Rows on the host."""
    return Layout(dtype)


def _no_shared_object(*_: Any, **__: Any) -> NoReturn:
    raise NotImplementedError(
        "shared objects are programs of C++, which are linked with tt-metal; `ttrt emitpy` runs the Python of a module"
    )


open_so: Callable[..., Any] = _no_shared_object
close_so: Callable[..., Any] = _no_shared_object
get_so_programs: Callable[..., Any] = _no_shared_object
create_inputs: Callable[..., Any] = _no_shared_object
run_so_program: Callable[..., Any] = _no_shared_object
compare_outs: Callable[..., Any] = _no_shared_object
