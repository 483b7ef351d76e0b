"""Members of the classes of a world: methods, properties, operators; and an expression that uses each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Member:
    """A part of a class's body and the expressions that use it.

    Attributes:
        lines: The text in the class.
        readings: Expressions over an instance ``{e}`` and its class ``{c}`` that give a number.
        before: Lines in front of the class.
        word: What bases that cannot have it call it.
    """

    lines: str
    readings: tuple[str, ...]
    before: str = ""
    word: str = ""


def _operator(name: str, *readings: str, body: str = "{B}", arguments: str = "") -> Member:
    return Member(f"def {name}(self{arguments}): return {body}", readings, word=name)


_WITH_OTHER = "({B} - 2.0 * (other if type(other) in (int, float) else 4.0))"

MEMBERS: tuple[Member, ...] = (
    Member(
        "attr{i} = {n}",
        (
            "{e}.attr{i}",
            "type({e}).attr{i}",
            "getattr({e}, 'attr{i}', 7.0)",
            "{c}.attr{i}",
            "vars({c})['attr{i}']",
            "{e}.__class__.attr{i}",
            "getattr({c}, 'attr{i}', 7.0)",
        ),
        word="class attribute",
    ),
    Member(
        "shared{i} = [{n}, {n}]",
        ("{e}.shared{i}[0]", "sum({c}.shared{i})", "len({e}.shared{i})", "type({e}).shared{i}[-1]"),
        word="class attribute",
    ),
    Member(
        "act{i} = staticmethod(lambda k=1.0: {B0} * k)",
        ("{e}.act{i}()", "{c}.act{i}(2.0)", "{e}.act{i}(k=2.0)"),
        word="class attribute",
    ),
    Member(
        "@property\ndef prop{i}(self): return {B}",
        (
            "{e}.prop{i}",
            "getattr({e}, 'prop{i}')",
            "{e}.prop{i} + 1.0",
            "operator.attrgetter('prop{i}')({e})",
            "(3.0 if hasattr({e}, 'prop{i}') else 5.0)",
        ),
    ),
    Member("prop{i} = property(lambda self: {B})", ("{e}.prop{i}",), word="class attribute"),
    Member(
        "@functools.cached_property\ndef cached{i}(self): return {B}",
        ("{e}.cached{i}", "getattr({e}, 'cached{i}')"),
        word="self attribute",
    ),
    Member(
        "def meth{i}(self, k=1.0): return {B} * k",
        (
            "{e}.meth{i}()",
            "{e}.meth{i}(2.0)",
            "{c}.meth{i}({e})",
            "(lambda f: f())({e}.meth{i})",
            "getattr({e}, 'meth{i}')()",
            "operator.methodcaller('meth{i}')({e})",
            "sum(map({e}.meth{i}, [1.0, 2.0]))",
        ),
    ),
    Member("def kw{i}(self, *, k={n}): return {B} + k", ("{e}.kw{i}()", "{e}.kw{i}(k=1.0)")),
    Member("@classmethod\ndef cm{i}(cls, k=1.0): return {B0} * k", ("{e}.cm{i}()", "{c}.cm{i}(2.0)")),
    Member("@staticmethod\ndef sm{i}(k=1.0): return {B0} * k", ("{e}.sm{i}()", "{c}.sm{i}(2.0)")),
    Member("def self{i}(self): return self", ("{e}.self{i}() and 3.0", "(3.0 if {e}.self{i}() is {e} else 5.0)")),
    Member(
        "desc{i} = Descriptor{C}{i}()",
        ("{e}.desc{i}", "{c}.desc{i}", "getattr({e}, 'desc{i}', 7.0)"),
        "class Descriptor{C}{i}:\n    def __get__(self, instance, owner=None): return {B0}\n",
        word="class attribute",
    ),
    Member(
        "data{i} = Data{C}{i}()",
        ("{e}.data{i}",),
        "class Data{C}{i}:\n    level = {n}\n    def __get__(self, instance, owner=None): return self.level\n"
        "    def __set__(self, instance, value): pass\n",
        word="class attribute",
    ),
    Member(
        "def __getattr__(self, name):\n    if name[0] == 'q': return {B0}\n    raise AttributeError(name)",
        ("{e}.q", "getattr({e}, 'q', 7.0)", "(3.0 if hasattr({e}, 'q') else 5.0)", "getattr({e}, 'z', 7.0)"),
        word="__getattr__",
    ),
    Member(
        "def __getattribute__(self, name):\n    if name == 'q': return {B0}\n"
        "    return object.__getattribute__(self, name)",
        ("{e}.q", "getattr({e}, 'q')"),
        word="__getattribute__",
    ),
    _operator(
        "__len__",
        "len({e})",
        "(3.0 if {e} else 5.0)",
        "bool({e}) + 1",
        "(3.0 if not {e} else 5.0)",
        body="int(abs({B}))",
    ),
    _operator(
        "__bool__",
        "(3.0 if {e} else 5.0)",
        "bool({e}) + 1",
        "(2.0 if {e} and True else 3.0)",
        "any([{e}]) + 1",
        "all([{e}]) + 1",
        "len(list(filter(None, [{e}]))) + 1",
        "(not {e}) + 1",
        "len([k for k in [{e}] if k]) + 1",
        body="{B} > 2.0",
    ),
    Member(
        "def __lt__(self, other): return {B} > 2.0\ndef __gt__(self, other): return {B} < 2.0",
        (
            "(3.0 if {e} < {e} else 5.0)",
            "(3.0 if {e} < 2.0 else 5.0)",
            "(3.0 if 1.0 > {e} else 5.0)",
            "(3.0 if 1.0 < {e} < 3.0 else 5.0)",
            "(3.0 if max([1.0, {e}]) is {e} else 5.0)",
            "(3.0 if sorted([1.0, {e}])[0] is {e} else 5.0)",
        ),
        word="__lt__",
    ),
    Member(
        "def __eq__(self, other): return {B} > 2.0\ndef __hash__(self): return 5",
        (
            "(3.0 if {e} == 2.0 else 5.0)",
            "(3.0 if {e} != 2.0 else 5.0)",
            "(3.0 if {e} in [1.0] else 5.0)",
            "[1.0].count({e}) + 1",
            "{{5: 3.0}}.get({e}, 7.0)",
            "(3.0 if {e} in {{5}} else 5.0)",
            "len({{5, {e}}})",
            "(3.0 if ({e}, 1) == (2.0, 1) else 5.0)",
            "(3.0 if [{e}] == [2.0] else 5.0)",
            "(3.0 if {{'k': {e}}} == {{'k': 2.0}} else 5.0)",
        ),
        word="__eq__",
    ),
    *(
        _operator(f"__{name}__", *readings, body=_WITH_OTHER, arguments=", other")
        for name, *readings in (
            ("add", "{e} + 1.0", "operator.add({e}, 2.0)", "sum([1.0], {e})"),
            ("radd", "1.0 + {e}", "sum([{e}], 1.0)", "sum([1.0, {e}])"),
            ("sub", "{e} - 1.0", "operator.sub({e}, 3.0)"),
            ("rsub", "1.0 - {e}", "operator.sub(3.0, {e})"),
            ("mul", "{e} * 2.0", "math.prod([{e}, 2.0])"),
            ("rmul", "2.0 * {e}", "functools.reduce(operator.mul, [2.0, {e}])"),
            ("truediv", "{e} / 2.0"),
            ("rtruediv", "2.0 / {e}"),
            ("mod", "{e} % 2"),
            ("rpow", "2 ** {e}"),
            ("getitem", "{e}[0]", "{e}[3]", "operator.getitem({e}, 2)", "operator.itemgetter(3)({e})"),
        )
    ),
    *(
        _operator(f"__{name}__", *readings, body=f"{_WITH_OTHER} > 0.0", arguments=", other")
        for name, *readings in (
            ("contains", "(3.0 if 1.0 in {e} else 5.0)", "(3.0 if 4 not in {e} else 5.0)"),
            (
                "le",
                "(3.0 if {e} <= 2.0 else 5.0)",
                "(3.0 if 1.0 >= {e} else 5.0)",
                "(3.0 if 0.0 <= {e} <= 3.0 else 5.0)",
            ),
            ("ge", "(3.0 if {e} >= 2.0 else 5.0)", "(3.0 if 1.0 <= {e} else 5.0)"),
            ("ne", "(3.0 if {e} != 2.0 else 5.0)", "(3.0 if 1.0 != {e} else 5.0)"),
            (
                "gt",
                "(3.0 if {e} > 2.0 else 5.0)",
                "max([1.0, {e}]) and 3.0",
                "(3.0 if min([1.0, {e}]) == 1.0 else 5.0)",
            ),
        )
    ),
    Member(
        "def __eq__(self, other): return {B} > (other if type(other) is float else 1.0)",
        (
            "(3.0 if {e} == 2.0 else 5.0)",
            "(3.0 if {e} != 2.0 else 5.0)",
            "(3.0 if 3.0 == {e} else 5.0)",
            "(3.0 if {e} in [1.0] else 5.0)",
            "[1.0, 3.0].count({e}) + 1",
            "(3.0 if [{e}] == [2.0] else 5.0)",
            "(3.0 if ({e}, 1) != (2.0, 1) else 5.0)",
        ),
        word="__eq__",
    ),
    Member(
        "def __hash__(self): return int({B})\ndef __eq__(self, other): return True",
        ("{{2: 3.0, 4: 6.0}}.get({e}, 7.0)", "len({{2, 3, {e}}})", "hash({e}) + 1"),
        word="__eq__",
    ),
    _operator("__add__", "{e} + 1.0", "operator.add({e}, 1.0)", arguments=", other"),
    _operator("__radd__", "1.0 + {e}", "sum([{e}], 1.0)", "sum([{e}])", arguments=", other"),
    _operator("__mul__", "{e} * 2.0", "math.prod([{e}, 2.0])", arguments=", other"),
    _operator("__rmul__", "2.0 * {e}", "functools.reduce(operator.mul, [2.0, {e}])", arguments=", other"),
    _operator("__sub__", "{e} - 1.0", arguments=", other"),
    _operator("__truediv__", "{e} / 2.0", arguments=", other"),
    _operator("__pow__", "{e} ** 2", "pow({e}, 2)", arguments=", other, modulo=None"),
    _operator("__matmul__", "{e} @ 2.0", arguments=", other"),
    _operator("__and__", "({e} & 1) + 1", arguments=", other"),
    _operator("__mod__", "{e} % 2", arguments=", other"),
    _operator("__divmod__", "divmod({e}, 2)", arguments=", other"),
    _operator("__neg__", "-{e}"),
    _operator("__pos__", "+{e}"),
    _operator("__invert__", "~{e}"),
    _operator("__abs__", "abs({e})"),
    _operator(
        "__float__", "float({e})", "math.fsum([{e}])", "math.floor({e})", "complex({e}).real", "float('%f' % {e})"
    ),
    _operator("__int__", "int({e})", "float('%d' % {e})", body="int({B})"),
    _operator("__round__", "round({e})", "round({e}, 1)", arguments=", digits=None"),
    _operator("__floor__", "math.floor({e})"),
    _operator(
        "__index__",
        "[1.0, 2.0, 4.0, 8.0, 16.0][{e}]",
        "sum([1.0, 2.0, 4.0, 8.0][:{e}])",
        "sum(range({e}))",
        "operator.index({e})",
        "len(bytes({e}))",
        "int({e})",
        "len('ab' * {e})",
        "float({e})",
        "len(bin({e}))",
        "range(9)[{e}]",
        "round(2.125, {e})",
        body="int(abs({B}))",
    ),
    _operator(
        "__str__",
        "len(str({e}))",
        "len(f'{{{e}}}')",
        "len('%s' % ({e},))",
        "len('{{}}'.format({e}))",
        "len(format({e}))",
        body="'a' * int(abs({B}))",
    ),
    _operator(
        "__repr__",
        "len(repr({e}))",
        "len(str([{e}]))",
        "len(f'{{{e}!r}}')",
        "len('%r' % ({e},))",
        "len(ascii({e}))",
        "len(str({{1: {e}}}))",
        body="'a' * int(abs({B}))",
    ),
    _operator(
        "__format__",
        "len(f'{{{e}:>3}}')",
        "len(format({e}, 'x'))",
        "len('{{:x}}'.format({e}))",
        body="'a' * int(abs({B}))",
        arguments=", spec",
    ),
    _operator(
        "__iter__",
        "sum({e})",
        "sum(k for k in {e})",
        "list({e})[0]",
        "max({e})",
        "[*{e}][0]",
        "(3.0 if 2.0 in {e} else 5.0)",
        "sum(a for a, b in zip({e}, [1, 2]))",
        "next(iter({e}))",
        "sum(map(float, {e}))",
        "(lambda a, b: a)(*{e})",
        "sorted({e})[0]",
        "dict(enumerate({e}))[0]",
        "functools.reduce(operator.add, {e})",
        "sum(itertools.chain({e}, [1.0]))",
        "len({{*{e}}})",
        body="iter([{B}, {n}])",
    ),
    _operator(
        "__getitem__",
        "{e}[0]",
        "{e}['k']",
        "operator.itemgetter(0)({e})",
        "'{{0[0]}}'.format({e}).count('.') + 1",
        "{e}[0:1]",
        "{e}[...]",
        body="{B} if key != 1 else [][key]",  # or going through it would never end
        arguments=", key",
    ),
    _operator("__missing__", "{e}['missing']", arguments=", key"),
    _operator(
        "__contains__",
        "(3.0 if 1.0 in {e} else 5.0)",
        "(3.0 if 1.0 not in {e} else 5.0)",
        "operator.contains({e}, 1.0) + 1",
        body="{B} > 2.0",
        arguments=", item",
    ),
    _operator("__reversed__", "list(reversed({e}))[0]", body="iter([{B}])"),
    _operator(
        "__call__",
        "{e}()",
        "{e}(2.0)",
        "sum(map({e}, [1.0, 2.0]))",
        "(3.0 if callable({e}) else 5.0)",
        "max([1.0, 2.0], key={e})",
        body="{B} * k",
        arguments=", k=1.0",
    ),
    _operator("__dir__", "len(dir({e}))", body="['a'] * int(abs({B}))"),
    _operator("__sizeof__", "{e}.__sizeof__()", body="int(abs({B}))"),
    _operator("__complex__", "complex({e}).real", body="complex({B})"),
    _operator("__bytes__", "len(bytes({e}))", body="b'a' * int(abs({B}))"),
    _operator("__length_hint__", "operator.length_hint({e})", body="int(abs({B}))"),
    Member(
        "@property\ndef __class__(self): return float if {B} > 2.0 else int",
        ("(3.0 if isinstance({e}, float) else 5.0)", "(3.0 if {e}.__class__ is float else 5.0)"),
        word="__class__",
    ),
    Member(
        "@classmethod\ndef _missing_(cls, value): return cls.HIGH if {B0} > 2.0 else cls.LOW",
        ("{c}(77.0).value",),
        word="_missing_",
    ),
)
