"""What rules write: operations of the tables, by the names of operands and attributes, in one version's form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, UnregisteredOp, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, Region, SSAValue

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.ttcore import GridAttr
from ttnn_jit.dialects.upstream import tables
from ttnn_jit.dialects.upstream.context import UpstreamContext
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed, parsed_type
from ttnn_jit.dialects.upstream.segment_sizes import NAMES
from ttnn_jit.dialects.upstream.table_attributes import TableAttribute
from ttnn_jit.dialects.upstream.table_operations import named_operands
from ttnn_jit.dialects.upstream.tables import OperationRow
from ttnn_jit.dialects.writing.editing import erase, insert_before, replace_uses

Given: TypeAlias = SSAValue | Sequence[SSAValue] | None
"""An operand: a value, none for an optional one, several for a variadic one."""

DECEMBER, AUGUST = "1", "2"
"""The versions, as rows of the tables name them."""

IR_VERSIONS = {"2025-12": DECEMBER, "2026-08": AUGUST}
"""The versions, as the command line names them."""


class Rewriter:
    """Writes operations at a place.

    Args:
        version: The version in whose form operations are written: of `IR_VERSIONS`.

    Attributes:
        changes: How many operations were replaced or erased.
    """

    def __init__(self, version: str = DECEMBER) -> None:
        self.version = version
        self.changes = 0

    def row(self, name: str) -> OperationRow | None:
        """The row of an operation in this version, else the newest of tt-mlir; None if there is none."""
        rows = tables.operation_rows(name)
        return next((row for row in rows if self.version in row.versions), rows[0] if rows else None)

    def create(
        self,
        name: str,
        operands: Mapping[str, Given],
        properties: Mapping[str, Attribute | None],
        result_types: Sequence[Attribute],
        before: Operation,
        regions: Sequence[Region] = (),
    ) -> Operation:
        """An operation, inserted before another.

        Args:
            name: Its name.
            operands: Its operands by the names of the row.
            properties: Its attributes; those that this version has not are left out, and those that are None.
            result_types: The types of its results.
            before: The operation before which it stands, whose location it takes.
            regions: Its regions.
        """
        op = self.detached(name, operands, properties, result_types, before, regions)
        insert_before(op, before)
        return op

    def detached(
        self,
        name: str,
        operands: Mapping[str, Given],
        properties: Mapping[str, Attribute | None],
        result_types: Sequence[Attribute],
        place: Operation,
        regions: Sequence[Region] = (),
    ) -> Operation:
        """An operation that stands nowhere yet, with the location of `place`; see `create`."""
        row = self.row(name)
        assert row is not None, f"the tables have {name}"
        groups = [_group(operands.get(each.name)) for each in row.operands]
        assert sum(map(len, groups)) == sum(len(_group(each)) for each in operands.values()), f"operands of {name}"
        known = {each.name for each in row.attributes}
        kept = {key: value for key, value in properties.items() if value is not None and key in known}
        if row.has("AttrSizedOperandSegments"):
            kept[NAMES["operands"]] = DenseArrayBase.from_list(i32, [len(group) for group in groups])
        op = operation_kind(name).create(
            operands=[value for group in groups for value in group],
            result_types=[*result_types],
            properties=kept,
            regions=[*regions],
        )
        op.location = place.location
        return op

    def value(
        self,
        name: str,
        operands: Mapping[str, Given],
        properties: Mapping[str, Attribute | None],
        result_type: Attribute,
        before: Operation,
    ) -> SSAValue:
        """The result of an operation that has one; see `create`."""
        return self.create(name, operands, properties, [result_type], before).results[0]

    def replace(self, op: Operation, values: Sequence[SSAValue]) -> None:
        """Replaces the results of `op`, and erases it."""
        for old, new in zip(op.results, values, strict=True):
            if new is not old:
                replace_uses(old, new)
        erase(op)
        self.changes += 1

    def device(self, at: Operation) -> SSAValue:
        """The device of the function around `at`: that of its first `ttnn.get_device`, made if there is none."""
        function = function_around(at)
        block = function.body.block
        for op in block.ops:
            if op.name == "ttnn.get_device":
                found: SSAValue = op.results[0]
                return found
        first = block.first_op
        assert first is not None
        rows, columns = ([*mesh_of(function), 1, 1])[:2]
        mesh = {
            "mesh_shape": parsed(f"#ttnn<mesh_shape {rows}x{columns}>"),
            "mesh_offset": parsed("#ttnn<mesh_offset 0x0>"),
        }
        return self.value("ttnn.get_device", {}, mesh, parsed_type("!ttnn.device"), first)


def mesh_of(op: Operation) -> list[int]:
    """The mesh of the `ttcore.device` around an operation; [1, 1] without one."""
    device = _device_around(op)
    shape = [] if device is None else [*(device.value("meshShape") or ())]
    return [*[1] * (2 - len(shape)), *shape]


def mesh_topology_of(op: Operation) -> list[str]:
    """The `meshTopology` of the `ttcore.device` around an operation; empty without one."""
    device = _device_around(op)
    return [] if device is None else [*map(str, device.value("meshTopology") or ())]


def worker_grid_of(op: Operation) -> list[int]:
    """The grid of the cores of the `ttcore.device` around an operation.

    Raises:
        CompileError: There is no device.
    """
    device = _device_around(op)
    if device is None:
        raise CompileError("no device is registered", help="run `ttcore-register-device` before this pass")
    grid = device.value("workerGrid")
    return [*(grid.data if isinstance(grid, GridAttr) else grid.value("shape"))]


def _device_around(op: Operation) -> Any:
    """The `#ttcore.device` around an operation; None without one.

    Raises:
        CompileError: Its body did not parse.
    """
    around: Operation | None = op
    while around is not None:
        if isinstance(around, FuncOp):  # devices stand beside functions: to look at all ops in one would take long
            around = around.parent_op()
            continue
        for region in around.regions:
            for block in region.blocks:
                for each in block.ops:
                    if each.name == "ttcore.device":
                        found = each.properties["device_attr"]
                        if not isinstance(found, TableAttribute):
                            raise CompileError(f"{found} is no device", location=location_of(each))
                        return found
        around = around.parent_op()
    return None


def operation_kind(name: str) -> type[Operation]:
    """The class of an operation."""
    found = UpstreamContext.make().get_optional_op(name)
    assert found is not None, f"the tables have {name}"
    return found


def function_around(op: Operation) -> FuncOp:
    """The function that holds `op`."""
    around: Operation | None = op
    while around is not None and not isinstance(around, FuncOp):
        around = around.parent_op()
    assert around is not None, "operations stand in functions"
    return around


def device_module(root: ModuleOp) -> ModuleOp:
    """The module with what runs on the device: that in `ttcore.device_module`, or `root` itself."""
    for op in root.body.block.ops:
        if op.name == "ttcore.device_module":
            inner = op.regions[0].block.first_op
            assert isinstance(inner, ModuleOp), "its verifier checks it"
            return inner
    return root


def operand_named(op: Operation, name: str) -> SSAValue | None:
    """One operand by its name; None if it is absent."""
    found = named_operands(op).get(name, ())
    return found[0] if found else None


def operands_by_name(op: Operation) -> dict[str, Given]:
    """The operands as `Rewriter.create` takes them."""
    return {name: [*values] for name, values in named_operands(op).items()}


def name_in_text(op: Operation) -> str:
    """The name of an operation, registered or not."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def _group(given: Given) -> list[SSAValue]:
    if given is None:
        return []
    return [given] if isinstance(given, SSAValue) else [*given]


def users_of(value: SSAValue) -> list[Operation]:
    """The operations that read a value, each once."""
    return [*dict.fromkeys(use.operation for use in value.uses)]


def has_one_user(value: SSAValue) -> bool:
    """Whether a value is read once."""
    return value.has_one_use()


def owner_named(value: SSAValue, *names: str) -> Operation | None:
    """The operation that makes a value, if it has one of these names."""
    owner = value.owner
    return owner if isinstance(owner, Operation) and owner.name in names else None


def version_of(module: Operation, default: str = DECEMBER) -> str:
    """The version that operations of a module identify: the first whose row only one version has; else `default`."""
    for op in module.walk():
        rows = [row for row in tables.operation_rows(op.name) if row.versions in {DECEMBER, AUGUST}]
        if not rows:
            continue
        given = op.properties.keys() - {*NAMES.values()}
        fitting = {row.versions for row in rows if given <= {each.name for each in row.attributes}}
        full = {row.versions for row in tables.operation_rows(op.name) if row.versions not in {DECEMBER, AUGUST}}
        if len(fitting) == 1 and not full:
            return fitting.pop()
    return default


def is_pure(op: Operation) -> bool:
    """Whether an operation only computes its results."""
    rows = tables.operation_rows(op.name)
    name = op.name.partition(".")[0]
    if rows:
        return rows[0].has("Pure")
    return name in {"arith", "math", "tensor"} and not op.regions
