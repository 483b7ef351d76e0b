"""A function on whole tensors becomes a manual computation on parts.

Every op is written on the parts that its rule allows. Operands that are cut otherwise are resharded first, partial
results are combined by `stablehlo.all_reduce`. An op without a rule reads and gives whole tensors, on every device.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.attribute_writer import attribute_of
from ttnn_jit.dialects.text_calls.op_calls import OpCall, bound_op, conversion_call, errors_at
from ttnn_jit.dialects.text_calls.text_attributes import attributes_of, name_of
from ttnn_jit.dialects.upstream.tables import operation_rows
from ttnn_jit.dialects.writing.editing import ops_of
from ttnn_jit.events.listeners import remark
from ttnn_jit.ops.families.dialect_conversion import Conversion
from ttnn_jit.ops.families.sharding_rule import ShardingRule
from ttnn_jit.ops.families.text_operation import Role
from ttnn_jit.transforms.shardings.mesh_axes import Axes, Mesh, Sharding, is_prefix, whole
from ttnn_jit.transforms.shardings.part_exchanges import CollectiveWriter, made, manual_computation
from ttnn_jit.transforms.shardings.propagation import RuledOp, Stated, propagate
from ttnn_jit.transforms.shardings.stated import SHARDINGS, StatedShardings, mesh_in

DIALECTS = frozenset({"stablehlo", "chlo", "sdy"})


def partition(module: ModuleOp, extents: Sequence[int]) -> None:
    """Writes each function of a module that states shardings as a manual computation.

    Args:
        module: The module, of StableHLO, without calls.
        extents: The extents of the mesh, if the module's is not meant.

    Raises:
        CompileError: A sharding is of a form that is not partitioned here; see `stated.py`.
    """
    mesh = mesh_in(module, extents)
    if mesh is None:
        return
    for function in [each for each in module.body.block.ops if isinstance(each, FuncOp) and each.body.first_block]:
        _FunctionPartitioner(function, mesh).partition()


class _Part:
    """A value on parts: the tensor of each device, and how the whole is cut."""

    def __init__(self, value: SSAValue, sharding: Sharding) -> None:
        self.forms: dict[Sharding, SSAValue] = {sharding: value}
        self.sharding = sharding


class _FunctionPartitioner:
    """Writes one function.

    Args:
        function: The function.
        mesh: The mesh.
    """

    def __init__(self, function: FuncOp, mesh: Mesh) -> None:
        self._function = function
        self._mesh = mesh
        self._stated = StatedShardings(function, mesh)
        self._reads: dict[Operation, OpCall] = {}
        self._ruled: dict[Operation, RuledOp] = {}
        self._parts: dict[SSAValue, _Part] = {}
        self._ops: list[Operation] = []
        self._writer = CollectiveWriter(mesh, self._ops, function.location)
        self._wanted: dict[SSAValue, Sharding] = {}

    def partition(self) -> None:
        """Replaces the body, if anything is cut."""
        block = self._function.body.block
        ops = ops_of(block)
        for op in ops:
            with errors_at(op):
                self._read(op)
        if self._stated.is_empty:
            return
        for op, read in self._reads.items():
            if read.operation.role is Role.EXCHANGES:
                raise CompileError(
                    f"`{name_of(op)}` exchanges parts outside of a manual computation", location=location_of(op)
                )
        last = ops[-1]
        start = dict(self._stated.values)
        for value, each in zip(last.operands, self._stated.results, strict=True):
            if each is not None and value not in start:
                start[value] = Stated(each.sharding, (True,) * len(each.sharding))
        values = [*block.args, *(result for op in ops for result in op.results)]
        shapes = {value: _shape(value) for value in values}
        self._wanted = propagate([*self._ruled.values()], start, shapes, self._mesh)
        self._write_body(block, ops[:-1], last)

    def _read(self, op: Operation) -> None:
        """Reads an op by its declaration, and what it says of its results."""
        is_known = name_of(op).partition(".")[0] in DIALECTS
        read = bound_op(op) if is_known else None
        operation = None if read is None else read.operation
        self._stated.read(op, operation)
        if read is None or not isinstance(operation, Conversion):
            return
        self._reads[op] = read
        if operation.role is Role.COMPUTES and not _captured(op):
            operands, results = [_shape(each) for each in op.operands], [_shape(each) for each in op.results]
            rule = operation.sharding_rule(conversion_call(op, read), operands, results)
            if rule is not None:
                self._ruled[op] = RuledOp(rule, tuple(op.operands), tuple(op.results))

    # --- The body -----------------------------------------------------------------------------------------------------

    def _write_body(self, block: Block, ops: Sequence[Operation], last: Operation) -> None:
        given = [self._wanted[value] for value in block.args]
        inner = Block(arg_types=[self._type(value, own) for value, own in zip(block.args, given, strict=True)])
        for outer, own, sharding in zip(block.args, inner.args, given, strict=True):
            own.name_hint = outer.name_hint
            self._parts[outer] = _Part(own, sharding)
        for op in ops:
            self._writer.location = op.location
            with errors_at(op):
                self._write(op)
        self._writer.location = last.location
        found = [
            self._parts[value].sharding if each is None else each.sharding
            for value, each in zip(last.operands, self._stated.results, strict=True)
        ]
        returned = [self._as(value, own) for value, own in zip(last.operands, found, strict=True)]
        inner.add_ops([*self._ops, made("sdy.return", returned, [], {}, last.location)])
        types = [value.type for value in last.operands]
        manual = manual_computation(
            self._mesh, [*block.args], given, types, found, Region(inner), self._function.location
        )
        for op in reversed([*ops, last]):
            block.erase_op(op, safe_erase=False)
        block.add_ops([manual, ReturnOp(*manual.results)])

    def _write(self, op: Operation) -> None:
        read = self._reads.get(op)
        if read is not None and read.operation.role is Role.SHARDS:
            self._write_manual(op)
        elif read is not None and isinstance(read.operation, Conversion) and read.operation.states_parts:
            wanted = self._wanted[op.results[0]]
            self._parts[op.results[0]] = _Part(self._as(op.operands[0], wanted), wanted)
        elif op in self._ruled:
            self._write_ruled(op, self._ruled[op])
        else:
            self._write_whole(op)

    def _write_ruled(self, op: Operation, ruled: RuledOp) -> None:
        """An op on parts."""
        rule, mesh = ruled.rule, self._mesh
        factors = self._factors(ruled)
        given = [mesh.composed(rule, own, factors) for own in rule.operands]
        found = [mesh.composed(rule, own, factors) for own in rule.results]
        operands = [self._as(value, own) for value, own in zip(op.operands, given, strict=True)]
        types = [self._type(value, own) for value, own in zip(op.results, found, strict=True)]
        written = self._copied(op, operands, types)
        if rule.local is not None:
            self._set_local(op, written, rule)
        combined = [(axis, kind) for factor, kind in rule.reduced.items() for axis in factors.get(factor, ())]
        for value, result, sharding in zip(op.results, written.results, found, strict=True):
            own: SSAValue = result
            for axis, kind in combined:
                own = self._writer.all_reduce(own, axis, kind)
            wanted = self._wanted[value]
            self._parts[value] = _Part(self._writer.resharded(own, sharding, wanted), wanted)

    def _set_local(self, op: Operation, written: Operation, rule: ShardingRule) -> None:
        assert rule.local is not None
        operands, results = [_shape(each) for each in written.operands], [_shape(each) for each in written.results]
        changed = rule.local(conversion_call(op, self._reads[op]), operands, results)
        kinds = {each.name: each.kind for row in operation_rows(name_of(op)) for each in row.attributes}
        element = _element(written.results[0].type)
        for name, value in changed.items():
            written.properties[name] = attribute_of(value, kinds[name], element)

    def _factors(self, ruled: RuledOp) -> dict[int, Axes]:
        """The axes of each factor of an op, by those of its results and operands; an axis cuts one factor."""
        rule = ruled.rule
        operands = [
            self._mesh.projected(rule, own, self._parts[value].sharding)
            for value, own in zip(ruled.operands, rule.operands, strict=True)
        ]
        results = [
            self._mesh.projected(rule, own, self._wanted[value])
            for value, own in zip(ruled.results, rule.results, strict=True)
        ]
        chosen: dict[int, Axes] = {}
        used: set[str] = set()

        def choose(factor: int, axes: Axes) -> None:
            before = chosen.get(factor, ())
            added = axes[len(before) :]
            if is_prefix(before, axes) and not used & {*added}:
                chosen[factor] = axes
                used.update(added)

        for factor in rule.reduced:
            candidates = {own[factor] for own in operands if factor in own}
            if len(candidates) == 1:
                choose(factor, candidates.pop())
        for projection in (*results, *operands):
            for factor, axes in projection.items():
                choose(factor, axes)
        return self._consistent(rule, chosen)

    def _consistent(self, rule: ShardingRule, chosen: dict[int, Axes]) -> dict[int, Axes]:
        """Without the axes of factors that lie inside one that is not all cut: parts would not be connected."""
        dimensions = [each for own in (*rule.operands, *rule.results) for each in own if len(each) > 1]
        is_changed = True
        while is_changed:
            is_changed = False
            for factors in dimensions:
                is_inside = False
                for factor in factors:
                    if is_inside and chosen.get(factor):
                        chosen[factor] = ()
                        is_changed = True
                    is_inside |= self._mesh.parts(chosen.get(factor, ())) != rule.sizes[factor]
        return chosen

    def _write_whole(self, op: Operation) -> None:
        """An op on whole tensors."""
        cut = [value for value in (*op.operands, *_captured(op)) if any(self._parts[value].sharding)]
        if cut:
            remark(
                name_of(op),
                location_of(op),
                f"`{name_of(op)}` has no sharding rule: {len(cut)} of its tensors {'is' if len(cut) == 1 else 'are'} "
                "gathered, and every device computes all of it",
            )
        mapped = {value: self._as(value, whole(len(_shape(value)))) for value in (*op.operands, *_captured(op))}
        written = op.clone(value_mapper=mapped)
        _drop(written)
        self._ops.append(written)
        for value, result in zip(op.results, written.results, strict=True):
            wanted = self._wanted[value]
            own = whole(len(_shape(value)))
            self._parts[value] = _Part(self._writer.resharded(result, own, wanted), wanted)

    def _write_manual(self, op: Operation) -> None:
        """The ops of a manual computation, on its shards."""
        read = attributes_of(op)
        given, found = (
            [
                self._stated.of_axes(value.type, each, op)
                for value, each in zip(values, read[name].get("shardings", ()), strict=True)
            ]
            for name, values in (("in_shardings", op.operands), ("out_shardings", op.results))
        )
        manual = str(read["manual_axes"])
        free = {axis for each in given for own in each for axis in own if f"'{axis}'" not in manual}
        if free:
            remark(
                name_of(op),
                location_of(op),
                f"`{name_of(op)}`: {_listed(free)}: its operands are gathered, and these devices compute the same",
            )
        given, found = (
            [tuple(tuple(axis for axis in own if f"'{axis}'" in manual) for own in each) for each in shardings]
            for shardings in (given, found)
        )
        body = op.regions[0].block
        mapped: dict[SSAValue, SSAValue] = {
            argument: self._as(value, own) for argument, value, own in zip(body.args, op.operands, given, strict=True)
        }
        *inner, last = ops_of(body)
        for each in inner:
            copy = each.clone(value_mapper=mapped)
            self._ops.append(copy)
        for value, result, sharding in zip(op.results, last.operands, found, strict=True):
            self._parts[value] = _Part(mapped.get(result, result), sharding)

    # --- Values -------------------------------------------------------------------------------------------------------

    def _as(self, value: SSAValue, sharding: Sharding) -> SSAValue:
        """The parts of a value that is cut so."""
        part = self._parts[value]
        if sharding not in part.forms:
            part.forms[sharding] = self._writer.resharded(part.forms[part.sharding], part.sharding, sharding)
        return part.forms[sharding]

    def _type(self, value: SSAValue, sharding: Sharding) -> Attribute:
        """The type of a part."""
        if not isinstance(value.type, TensorType):
            return value.type
        return TensorType(value.type.get_element_type(), self._mesh.local(_shape(value), sharding), value.type.encoding)

    def _copied(self, op: Operation, operands: Sequence[SSAValue], types: Sequence[Attribute]) -> Operation:
        """An op with other operands and types of results."""
        written = type(op).create(
            operands=[*operands],
            result_types=[*types],
            properties=dict(op.properties),
            attributes=dict(op.attributes),
            regions=[each.clone() for each in op.regions],
        )
        written.location = op.location
        for before, after in zip(op.results, written.results, strict=True):
            after.name_hint = before.name_hint
        _drop(written)
        self._ops.append(written)
        return written


def _listed(axes: set[str]) -> str:
    """That axes are not manual."""
    names = ", ".join(sorted(axes))
    return f"{names} is no manual axis" if len(axes) == 1 else f"{names} are no manual axes"


def _drop(op: Operation) -> None:
    """Removes what ops say of shardings."""
    for each in op.walk():
        for name in SHARDINGS:
            each.attributes.pop(name, None)
            each.properties.pop(name, None)


def _captured(op: Operation) -> list[SSAValue]:
    """The values outside of an op that its regions read."""
    inside = {value for each in op.walk() for value in each.results}
    inside |= {
        value for each in op.walk() for region in each.regions for block in region.blocks for value in block.args
    }
    read = [value for each in op.walk() if each is not op for value in each.operands]
    return [*dict.fromkeys(value for value in read if value not in inside)]


def _shape(value: SSAValue) -> tuple[int, ...]:
    return tuple(value.type.get_shape()) if isinstance(value.type, TensorType) else ()


def _element(type_: Attribute) -> Attribute:
    assert isinstance(type_, TensorType)
    found: Attribute = type_.get_element_type()
    return found
