"""Makes the tables of this folder from ``llvm-tblgen --dump-json`` of the dialects' ODS files.

    python generate_tables.py 1=DEC/TTNNOps.json ... 2=AUG/TTNNOps.json ... +=StablehloOps.json ...

Each argument names a version and a dump. The versions are 1, the tree of tt-mlir of December 2025 (884581870c), and 2,
that of August 2026 (19c86fca45); ``+`` is a dialect of another project, of which one version is read. The dumps are

    llvm-tblgen --dump-json -I include -I $MLIR/include ... include/ttmlir/Dialect/NAME/IR/NAMEOps.td

for TTCore, TTIR, TTNN, D2M (also D2MGenericRegionOps), TTKernel, TTMetal, SFPI, EmitPy (also EmitPyAttrs) and Debug of
tt-mlir; for stablehlo and chlo of openxla/stablehlo, sdy (ops.td and attrs.td) of openxla/shardy; for emitc, quant,
tosa and the dialects of `SYNTAX_ONLY` of LLVM 19. Names that LLVM 19 lacks (FloatTypeInterface,
SymbolUserAttrInterface, the small float types, TensorLikeType) are declared empty in a copy of its headers.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

HEADER = (
    "# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
    "# Facts of the ODS of {origin}; made by generate_tables.py, do not edit.\n"
    "# {columns}\n"
)
TT_MLIR = "tenstorrent/tt-mlir (884581870c, 19c86fca45), openxla/stablehlo, openxla/shardy and llvm/llvm-project"

SYNTAX_ONLY = {"arith", "math", "memref", "tensor", "scf", "cf", "bufferization", "affine", "llvm"}
"""Dialects of which xDSL has classes: of theirs, only operations with a format are kept."""

OTHER_DIALECTS = {"builtin", "func", "linalg", "shape", "vector", "transform", *SYNTAX_ONLY}
"""Dialects whose attributes are not kept, for xDSL has them."""

KEPT_TRAITS = {
    "SameOperandsAndResultType", "SameTypeOperands", "SameOperandsAndResultElementType", "SameOperandsAndResultShape",
    "SameOperandsElementType", "SameOperandsShape", "Terminator", "NoTerminator", "IsolatedFromAbove", "SymbolTable",
    "Symbol", "SingleBlock", "AttrSizedOperandSegments", "AttrSizedResultSegments", "NoRegionArguments",
    "InferTypeOpInterface", "Pure", "NoMemoryEffect",
}  # fmt: skip

Record = Mapping[str, Any]


class Dump:
    """One dump and what it says of a record."""

    def __init__(self, path: Path) -> None:
        self._records: dict[str, Any] = json.loads(path.read_text())

    def of(self, reference: Record | None) -> Record | None:
        """The record that a field refers to."""
        return None if reference is None else self._records[reference["def"]]

    def instances(self, kind: str) -> Iterator[Record]:
        """The records of a class."""
        return (self._records[name] for name in self._records["!instanceof"].get(kind, ()))

    def arguments(self, dag: Record) -> Iterator[tuple[Any, str]]:
        """The elements of a dag with their names; a record for each reference."""
        for value, name in dag["args"]:
            found = self.of(value) if isinstance(value, dict) and value.get("kind") == "def" else value
            if isinstance(found, dict) and "OpVariable" in found["!superclasses"]:
                found = self.of(found["constraint"])
            yield found, name

    def dialect_of(self, record: Record, field: str) -> str:
        """The name of a record's dialect."""
        found = self.of(record[field])
        return str(found["name"]) if found else ""


class Tables:
    """The rows of all dumps, by name and version."""

    def __init__(self) -> None:
        self.operations: dict[str, dict[str, str]] = {}
        self.classes: dict[str, str] = {}
        self.attributes: dict[str, dict[str, str]] = {}
        self.enums: dict[str, dict[str, str]] = {}
        self.constraints: dict[str, str] = {}
        self._by_summary: dict[str, str] = {}

    def read(self, version: str, dump: Dump) -> None:
        """Adds the rows of `dump`."""
        for record in dump.instances("Op"):
            dialect = dump.dialect_of(record, "opDialect")
            if not dialect:
                continue
            if dialect not in OTHER_DIALECTS or (
                dialect in SYNTAX_ONLY
                and version == "+"
                and (
                    record["opName"].startswith("intr.mem")
                    or (record["assemblyFormat"] and not record["opName"].startswith("intr."))
                )
            ):
                name = f"{dialect}.{record['opName']}"
                self.operations.setdefault(name, {})[version] = self._operation(record, dump)
                self.classes[name] = record["!name"].partition("_")[2]
        for kind, name_field, letter in (("AttrDef", "attrName", "A"), ("TypeDef", "typeName", "T")):
            for record in dump.instances(kind):
                if dump.dialect_of(record, "dialect") not in OTHER_DIALECTS:
                    row = self._definition(record, dump)
                    self.attributes.setdefault(f"{letter}\t{record[name_field]}", {})[version] = row
        for record in dump.instances("EnumAttrInfo"):
            cases = [dump.of(case) for case in record["enumerants"]]
            spelling = " ".join(f"{case['value']}={case['str']}" for case in cases if case)
            name = _cpp_name(record)
            if "linalg" in name or "arith" in name:
                continue
            self.enums.setdefault(name, {})[version] = spelling

    def _operation(self, record: Record, dump: Dump) -> str:
        operands, attributes = [], []
        for found, name in dump.arguments(record["arguments"]):
            kinds = found["!superclasses"]
            if "TypeConstraint" in kinds:
                operands.append(self._typed(found, name, dump))
            else:
                attributes.append(self._named_attribute(found, name, dump))
        results = [self._typed(found, name, dump) for found, name in dump.arguments(record["results"])]
        regions = [
            f"{name or '_'}{'*' if 'VariadicRegion' in found['!superclasses'] else ''}:{self._constraint(found)}"
            for found, name in dump.arguments(record["regions"])
        ]
        successors = [
            f"{name}{'*' if 'VariadicSuccessor' in found['!superclasses'] else ''}"
            for found, name in dump.arguments(record["successors"])
        ]
        form = _squeezed(record["assemblyFormat"]) or ("C++" if record["hasCustomAssemblyFormat"] else "")
        columns = [operands, attributes, results, regions, successors, [form], [*self._traits(record, dump)]]
        return "\t".join(" ".join(column) for column in columns)

    def _typed(self, record: Record, name: str, dump: Dump) -> str:
        mark = ""
        if {"Variadic", "VariadicOfVariadic"} & {*record["!superclasses"]}:
            mark = "*"
        elif "Optional" in record["!superclasses"]:
            mark = "?"
        base = dump.of(record["baseType"]) if mark else record
        assert base is not None
        return f"{name or '_'}{mark}:{self._constraint(base)}"

    def _constraint(self, record: Record) -> str:
        """A name for a constraint; its summary and the type that it implies are rows of a table."""
        summary = record.get("summary") or ""
        builder = re.sub(r"\s+", " ", record.get("builderCall") or "")
        if "typeName" in record and record.get("typeName"):
            return self._known(f"!{record['typeName']}", f"{summary}\t{builder}")
        if not record["!anonymous"]:
            return self._known(str(record["!name"]), f"{summary}\t{builder}")
        return self._numbered(f"{summary}\t{builder}")

    def _known(self, name: str, fact: str) -> str:
        known = self.constraints.setdefault(name, fact)
        return name if known == fact else self._numbered(fact)

    def _numbered(self, fact: str) -> str:
        if fact not in self._by_summary:
            self._by_summary[fact] = f"c{len(self._by_summary)}"
            self.constraints[self._by_summary[fact]] = fact
        return self._by_summary[fact]

    def _named_attribute(self, record: Record, name: str, dump: Dump) -> str:
        if "Property" in record["!superclasses"]:
            return f"{name}:{record['summary'] or record['interfaceType']}".replace(" ", "_")
        default: str | None = None
        optional = ""
        while True:
            if "OptionalAttr" in record["!superclasses"] or "DefaultValuedOptionalAttr" in record["!superclasses"]:
                optional = "?"
            if default is None and record.get("defaultValue"):
                default = re.sub(r"\s+", "", record["defaultValue"])
            if "ConfinedAttr" in record["!superclasses"]:
                kind = self._confined(record, dump)
                break
            base = dump.of(record.get("baseAttr"))
            if base is None:
                kind = self._attribute_kind(record, dump)
                break
            record = base
        return f"{name}{optional}:{kind}" + (f"={default}" if default else "")

    def _confined(self, record: Record, dump: Dump) -> str:
        base = dump.of(record["baseAttr"])
        assert base is not None
        return f"{self._attribute_kind(base, dump)}&{self._numbered(record['summary'] + chr(9))}"

    def _attribute_kind(self, record: Record, dump: Dump) -> str:
        if "AttrDef" in record["!superclasses"]:
            return self._known(f"#{record['attrName']}", f"{record['summary']}\t")
        if "EnumAttrInfo" in record["!superclasses"]:
            return f"enum:{_cpp_name(record)}"
        if not record["!anonymous"]:
            return self._known(str(record["!name"]), f"{record['summary']}\t")
        storage = (record.get("storageType") or "").strip().removeprefix("::mlir::")
        element = dump.of(record.get("elementAttr"))
        if "TypedArrayAttrBase" in record["!superclasses"] and element:
            return f"[{self._attribute_kind(element, dump)}]"
        return self._numbered(f"{record['summary']}\t{storage}")

    def _traits(self, record: Record, dump: Dump) -> Iterator[str]:
        if record["hasVerifier"] or record["hasRegionVerifier"]:
            yield "verified"
        for trait in _flat([dump.of(each) for each in record["traits"]], dump):
            kinds = trait["!superclasses"]
            name = str(trait.get("trait") or trait.get("cppInterfaceName") or "")
            if "AllTypesMatch" in kinds or "AllElementTypesMatch" in kinds:
                which = "AllTypesMatch" if "AllTypesMatch" in kinds else "AllElementTypesMatch"
                yield f"{which}({','.join(trait['values'])})"
            elif "TypesMatchWith" in kinds:
                transform = re.sub(r"\s+", "", trait["transformer"])
                yield f"TypesMatchWith({trait['lhs']},{trait['rhs']},{transform})"
            elif match := re.match(r"(?:HasParent|SingleBlockImplicitTerminator)<.*>", name):
                yield re.sub(r"\s+", "", match.group())
            elif trait["!name"] in KEPT_TRAITS or name in KEPT_TRAITS:
                yield str(trait["!name"]) if trait["!name"] in KEPT_TRAITS else name

    def _definition(self, record: Record, dump: Dump) -> str:
        parameters = [_parameter(found, name) for found, name in dump.arguments(record["parameters"])]
        form = _squeezed(record["assemblyFormat"]) or ("C++" if record["hasCustomAssemblyFormat"] else "")
        enum = ""
        if "EnumAttr" in record["!superclasses"]:
            found = dump.of(record["enum"])
            assert found is not None
            enum = _cpp_name(found)
            parameters = [f"value:{enum}"]
        traits = [dump.of(each) for each in record["traits"]]
        names = sorted({str(each.get("cppInterfaceName")) for each in traits if each and each.get("cppInterfaceName")})
        kept = [name for name in names if name in {"MemRefLayoutAttrInterface", "ShapedTypeInterface"}]
        verified = ["verified"] if record["genVerifyDecl"] else []
        return "\t".join([record["cppClassName"], ";".join(parameters), form, " ".join(kept + verified)])


def _flat(traits: Sequence[Record | None], dump: Dump) -> Iterator[Record]:
    for trait in traits:
        if trait is None:
            continue
        if trait["!name"] == "Pure":
            yield trait
        elif "TraitList" in trait["!superclasses"]:
            yield from _flat([dump.of(each) for each in trait["traits"]], dump)
        else:
            yield trait


def _parameter(found: Any, name: str) -> str:
    if isinstance(found, str):
        return f"{name}:{found}"
    cpp = re.sub(r"\s+", "", found["cppType"])
    default = re.sub(r"\s+", "", found["defaultValue"] or "")
    return f"{name}?:{cpp}={default}" if default else f"{name}:{cpp}"


def _cpp_name(enum: Record) -> str:
    return f"{enum['cppNamespace'].removeprefix('::')}::{enum['className']}"


def _squeezed(text: str | None) -> str:
    return re.sub(r"\s+", " ", text or "").strip()


def class_of_words(name: str) -> str:
    """``AddOp`` for ``ttir.add``."""
    words = name.partition(".")[2].replace(".", "_").split("_")
    return "".join(word[:1].upper() + word[1:] for word in words) + "Op"


def _versions(rows: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each distinct row, the newest first, with the versions that have it."""
    for row in dict.fromkeys(rows[version] for version in sorted(rows, reverse=True)):
        yield "".join(version for version in sorted(rows) if rows[version] == row), row


def _write(folder: Path, name: str, columns: str, rows: Iterator[str]) -> None:
    text = HEADER.format(origin=TT_MLIR, columns=columns) + "".join(f"{row}\n" for row in rows)
    (folder / name).write_text(text)


BY_HAND = {
    "T\tquant.uniform": {"+": "UniformQuantizedType\t\tC++\t"},
    "T\temitc.lvalue": {"+": "LValueType\tvalueType:Type\t`<` $valueType `>`\t"},
    "T\ttosa.shape": {"+": "shapeType\trank:int\t`<` $rank `>`\t"},
}
"""Types that no ODS file declares, or a newer one than is read."""

_DEVICE = (
    "`<` `workerGrid` `=` qualified($workerGrid) `,` `l1Map` `=` qualified($l1Map) `,` "
    "`dramMap` `=` qualified($dramMap) `,` `meshShape` `=` custom<DimensionList>($meshShape) `,` "
    "`chipIds` `=` `[` $chipIds `]` `,` `meshTopology` `=` `[` $meshTopology `]` `>`"
)
BETWEEN_VERSIONS = {
    "A\tttcore.device": "DeviceAttr\tworkerGrid:ttcore::GridAttr;l1Map:AffineMap;dramMap:AffineMap;"
    f"meshShape:ArrayRef<int64_t>;chipIds:ArrayRef<unsigned>;meshTopology:ArrayRef<Topology>\t{_DEVICE}\t",
    "A\tttcore.runtime_tensor_sharding": "RuntimeTensorShardingAttr\tshard_status:ShardStatusAttr;"
    "local_shape:RankedTensorType\t`shard_status` `=` $shard_status `,` `local_shape` `=` $local_shape\t",
}
"""Attributes as they were for some months between the versions that are read; dumps of tt-xla hold them."""

FIELDS_BETWEEN_VERSIONS = {"A\tttnn.conv2d_config": "in_place?:BoolAttr=nullptr"}
"""Fields that attributes had before December 2025 or between the versions."""


def _row_by_hand(
    form: str, operands: str = "", attributes: str = "", result: str = "", body: str = "", traits: str = ""
) -> str:
    columns = (operands, attributes, f"result:{result}" if result else "", body, "", form, traits)
    return "\t".join(columns)


_FLOAT_INTRINSICS = {
    "a:AnyType": (
        "acos asin atan ceil cos cosh exp exp10 exp2 expm1 fabs floor log log10 log1p log2 nearbyint rint round "
        "roundeven sin sinh sqrt tan tanh trunc"
    ),
    "a:AnyType b:AnyType": "atan2 copysign maximum maxnum minimum minnum pow",
    "a:AnyType b:AnyType c:AnyType": "fma fmuladd",
}
_INTEGER_INTRINSICS = {"a:AnyType": "bitreverse bswap ctpop", "a:AnyType b:AnyType": "smax smin umax umin"}


def _intrinsics() -> Iterator[tuple[str, str]]:
    """Functions of LLVM on values of one type, as texts spell them."""
    form, traits = "`(` operands `)` attr-dict `:` functional-type(operands, results)", "SameOperandsAndResultType Pure"
    for attributes, kinds in (("fastmathFlags:#llvm.fastmath={}", _FLOAT_INTRINSICS), ("", _INTEGER_INTRINSICS)):
        for operands, names in kinds.items():
            for name in names.split():
                yield f"llvm.intr.{name}", _row_by_hand(form, operands, attributes, result="AnyType", traits=traits)


OPERATIONS_BY_HAND = {
    **dict(_intrinsics()),
    "llvm.intr.stackrestore": _row_by_hand("$ptr attr-dict `:` qualified(type($ptr))", "ptr:AnyType"),
    "llvm.intr.stacksave": _row_by_hand("attr-dict `:` qualified(type($result))", result="AnyType"),
    "emitc.address_of": _row_by_hand(
        "$reference `:` qualified(type($reference)) attr-dict", "reference:!emitc.lvalue", result="AnyType"
    ),
    "emitc.dereference": _row_by_hand(
        "$pointer `:` qualified(type($pointer)) attr-dict", "pointer:!emitc.ptr", result="AnyType"
    ),
    "emitc.get_field": _row_by_hand(
        "$field_name `:` type($result) attr-dict", attributes="field_name:FlatSymbolRefAttr", result="AnyType"
    ),
    "emitc.load": _row_by_hand(
        "$operand attr-dict `:` type($operand)",
        "operand:AnyType",
        result="AnyType",
        traits="TypesMatchWith(operand,result,getValueType($_self))",
    ),
    "emitc.file": _row_by_hand(
        "$id attr-dict-with-keyword $bodyRegion", attributes="id:StrAttr", body="bodyRegion:AnyRegion"
    ),
    "emitc.class": _row_by_hand(
        "(`final` $final_specifier^)? $sym_name attr-dict-with-keyword $body",
        attributes="sym_name:SymbolNameAttr final_specifier?:UnitAttr",
        body="body:AnyRegion",
    ),
    "emitc.verbatim": _row_by_hand(
        "$value (`args` $fmtArgs^ `:` type($fmtArgs))? attr-dict", "fmtArgs*:AnyType", "value:StrAttr"
    ),
    "llvm.getelementptr": _row_by_hand(
        "custom<GEPFlags>($noWrapFlags) $base `[` custom<GEPIndices>($dynamicIndices, $rawConstantIndices) `]` "
        "attr-dict `:` functional-type(operands, results) `,` $elem_type",
        "base:AnyType dynamicIndices*:AnyType",
        "noWrapFlags:I32Attr rawConstantIndices:DenseI32ArrayAttr elem_type:TypeAttr",
        result="AnyType",
        traits="Pure",
    ),
    "mhlo.copy": _row_by_hand(
        "$operand attr-dict `:` type($operand)",
        "operand:AnyRankedTensor",
        result="AnyRankedTensor",
        traits="SameOperandsAndResultType Pure",
    ),
    "tosa.const_shape": _row_by_hand(
        "attr-dict `:` functional-type(operands, results)", attributes="values:IndexElementsAttr", result="AnyType"
    ),
}
"""Operations of a newer version of LLVM's dialects, functions of LLVM, and the one of MHLO that dumps hold."""


def main(arguments: Sequence[str]) -> None:
    """Reads the dumps and writes the tables beside this file."""
    tables = Tables()
    for argument in arguments:
        version, _, path = argument.partition("=")
        tables.read(version, Dump(Path(path)))
    tables.attributes |= BY_HAND
    for key, row in BETWEEN_VERSIONS.items():
        tables.attributes.setdefault(key, {})["+"] = row
    for key, added in FIELDS_BETWEEN_VERSIONS.items():
        for version, row in tables.attributes[key].items():
            cpp_class, parameters, *rest = row.split("\t")
            tables.attributes[key][version] = "\t".join([cpp_class, f"{parameters};{added}", *rest])
    tables.operations |= {name: {"+": row} for name, row in OPERATIONS_BY_HAND.items()}
    folder = Path(__file__).parent

    def rows(kept: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
        for name, versions in sorted(kept.items()):
            for marks, row in _versions(versions):
                yield f"{name}\t{marks}\t{row}"

    columns = "name\tversions\toperands\tattributes\tresults\tregions\tsuccessors\tformat\ttraits"
    _write(folder, "operations.tsv", columns, rows(tables.operations))
    _write(folder, "attributes.tsv", "kind\tname\tversions\tclass\tparameters\tformat\ttraits", rows(tables.attributes))
    _write(folder, "enums.tsv", "class\tversions\tcases", rows(tables.enums))
    classes = (
        f"{name}\t{cpp_class}"
        for name, cpp_class in sorted(tables.classes.items())
        if cpp_class != class_of_words(name)
    )
    _write(folder, "operation_classes.tsv", "name\tclass of C++, where it is not the words of the name", classes)
    constraints = (f"{name}\t{fact}" for name, fact in sorted(tables.constraints.items()))
    _write(folder, "constraints.tsv", "name\tsummary\tthe type or storage that it implies", constraints)


if __name__ == "__main__":
    main(sys.argv[1:])
