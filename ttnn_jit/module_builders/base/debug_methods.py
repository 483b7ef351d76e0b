"""Operations of the debug dialect, which builders of all dialects have."""

from __future__ import annotations

from typing import Any

from ttnn_jit.module_builders.base.built_functions import FunctionBuilder
from ttnn_jit.module_builders.base.method_signatures import stated_signature
from ttnn_jit.ttmlir.mlir_values import Value

_STATED = {
    line.partition(":")[0]: stated_signature(line, "debug")
    for line in (
        "annotate: operand annotation",
        "breakpoint: operand",
        "print: operand message",
        "memory_snapshot: operand file_path",
        "dump: operand file_path",
        "region_start: operand region_id",
        "region_end: operand region_id",
    )
}


class DebugMethods(FunctionBuilder):
    """Marks, breakpoints and dumps of a value; what has no result of its own gives the value."""

    def annotate(self, operand: Value, annotation: str, loc: Any = None) -> Any:
        """The value, with a note in the module."""
        return self._debug("annotate", operand, loc, annotation=annotation)

    def breakpoint(self, operand: Value, loc: Any = None) -> Any:
        """Stops a debugger of tt-mlir; nothing here."""
        return self._debug("breakpoint", operand, loc)

    def print(self, operand: Value, message: str, loc: Any = None) -> Any:
        """Prints a message when the program runs on a device; nothing here."""
        return self._debug("print", operand, loc, message=message)

    def memory_snapshot(self, operand: Value, file_path: str, loc: Any = None) -> Any:
        """Writes what memory of a device is in use; nothing here."""
        return self._debug("memory_snapshot", operand, loc, file_path=file_path)

    def dump(self, operand: Value, file_path: str, loc: Any = None) -> Any:
        """Writes a tensor of a device; nothing here."""
        return self._debug("dump", operand, loc, file_path=file_path)

    def region_start(self, operand: Value, region_id: str, loc: Any = None) -> Any:
        """The value, at the start of a named part of the program."""
        return self._debug("region_start", operand, loc, region_id=region_id)

    def region_end(self, operand: Value, region_id: str, loc: Any = None) -> Any:
        """The value, at the end of a named part of the program."""
        return self._debug("region_end", operand, loc, region_id=region_id)

    def _debug(self, method: str, operand: Value, loc: Any, **attributes: str) -> Any:
        signature = _STATED[method]
        has_result = bool(signature.row.results)
        given = {"operand": operand, "loc": loc, "result_types": [operand.type] if has_result else [], **attributes}
        made = self.make_operation(signature, given)
        return made if has_result else operand
