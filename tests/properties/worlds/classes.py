# ruff: noqa: E501 - a form is one text
"""The classes of a world: bases with their ways of holding numbers, and members that compute with them.

In the texts ``{n}`` is a number, ``{B}`` a number computed in a method, ``{C}`` the class's name, ``{i}`` a number that
makes names differ; in readings ``{e}`` is an instance and ``{c}`` the class.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Base:
    """A kind of class.

    Attributes:
        head: The first lines.
        body: Lines at the start of the class's body.
        makes: Expressions that make an instance.
        own: What a method reads of its own instance.
        readings: What anybody may read of an instance.
        class_readings: What anybody may read of the class.
        members: Whether members may be added; those of `only`, if that names some.
        tail: Lines after the class.
    """

    head: str
    body: tuple[str, ...] = ()
    makes: tuple[str, ...] = ("{C}()",)
    own: str = "self.scale"
    readings: tuple[str, ...] = ()
    class_readings: tuple[str, ...] = ()
    members: bool = True
    unfit: frozenset[str] = frozenset()
    subclassable: bool = False
    tail: str = ""


_SCALE = ("{e}.scale", "getattr({e}, 'scale')", "getattr({e}, 'scale', 7.0)", "vars({e})['scale']",
          "{e}.__dict__['scale']", "operator.attrgetter('scale')({e})", "(3.0 if {e}.flag else 5.0)",
          "(3.0 if {e}.option is None else 5.0)", "(3.0 if hasattr({e}, 'extra') else 5.0)",
          "getattr({e}, 'extra', 7.0)", "(3.0 if isinstance({e}, {c}) else 5.0)", "{e}.__class__.__name__.count('C') + 1",
          "(3.0 if type({e}) is {c} else 5.0)", "len(str(type({e})))", "(3.0 if {e} else 5.0)", "{e}.items[0]", "{e}.items[-1]", "len({e}.items)", "sum({e}.items)",
          "sum(k for k in {e}.items)", "{e}.table['k']", "{e}.table.get('k')", "{e}.table.get('q', 7.0)",
          "'{{0.scale}}'.format({e}).count('0') + 1", "float('{{0.scale:.2f}}'.format({e}))",
          "(3.0 if {e}.name == 'relu' else 5.0)", "len({e}.name)")  # fmt: skip
_FIELDS = ("scale: float = {n}", "flag: bool = False", "option: object = None", "name: str = 'relu'")
_INIT = (
    "def __init__(self, scale={n}, flag=False, option=None):",
    "    self.scale = scale",
    "    self.flag = flag",
    "    self.option = option",
    "    self.name = 'relu'",
    "    self.items = [scale, {n}]",
    "    self.table = {{'k': scale, 'j': {n}}}",
)
_SLOTTED = frozenset({"__dict__", "vars"})
_VALUE = ("{e}", "{e} * 2.0", "2.0 * {e}", "{e} + 1.0", "1.0 - {e}", "-{e}", "abs({e})", "({e} > 1.0) + 1", "float({e})",
          "({e} == 2.0) + 1", "(3.0 if {e} else 5.0)", "max({e}, 0.5)", "round({e})", "sum([{e}, 1.0])", "int({e})",
          "len(str({e}))", "float('%s' % ({e},))", "float(f'{{{e}}}')", "(3.0 if isinstance({e}, {c}) else 5.0)",
          "{e} // 1", "{e} ** 2", "pow({e}, 2)", "math.floor({e})", "{e}.real", "min([{e}, 4.0])",
          "(3.0 if {e} in (2.0, 3.0) else 5.0)", "complex({e}).real", "sorted([{e}, 1.0])[0]", "bool({e}) + 1")  # fmt: skip
_ITEMS = ("{e}[0]", "{e}[-1]", "len({e})", "sum({e})", "max({e})", "sum(k for k in {e})", "sum(map(float, {e}))",
          "(3.0 if 2.0 in {e} else 5.0)", "{e}.count(2.0) + 1", "sum({e}[0:1])", "(3.0 if {e} else 5.0)", "[*{e}][0]",
          "(lambda *k: k[0])(*{e})", "sum(a * b for a, b in zip({e}, {e}))", "sorted({e})[0]", "list({e})[0]",
          "next(iter({e}))", "sum(i * k for i, k in enumerate({e}))", "list(reversed({e}))[0]", "math.fsum({e})",
          "functools.reduce(operator.add, {e})", "tuple({e})[0]", "len(repr({e}))", "len('%s' % ({e},))",
          "(3.0 if {e} == [2.0, 3.0] else 5.0)", "(3.0 if {e} < [2.0, 3.0] else 5.0)", "operator.itemgetter(0)({e})",
          "sum([*map(lambda k: k * 2.0, {e})])", "({e} + {e})[0]", "({e} * 2)[0]", "min({e}, key=lambda k: -k)",
          "'{{0[0]}}'.format({e}).count('0') + 1", "any(k > 2.0 for k in {e}) + 1", "{e}.index({e}[0]) + 1")  # fmt: skip
_KEYS = ("{e}['scale']", "{e}.get('scale')", "{e}.get('q', 7.0)", "len({e})", "sum({e}.values())", "len(list({e}))",
         "(3.0 if 'scale' in {e} else 5.0)", "(3.0 if 'q' in {e} else 5.0)", "sum(v for k, v in {e}.items())",
         "(lambda scale=1.0, **k: scale)(**{e})", "dict({e})['scale']", "{{**{e}}}['scale']", "len({e}.keys())",
         "'{{0[scale]}}'.format({e}).count('0') + 1", "sum({e}[k] for k in {e})", "(3.0 if {e} else 5.0)",
         "operator.itemgetter('scale')({e})", "'%(scale)s'.count('s') % {e} if False else {e}['scale']",
         "float('%(scale)s' % {e})", "len({e} | {{'z': 1}})", "sorted({e})[0].count('s') + 1",
         "(3.0 if {e} == {{'scale': 2.0}} else 5.0)", "max({e}, key={e}.get).count('s') + 1")  # fmt: skip

BASES: dict[str, Base] = {
    "plain": Base("class {C}:", _INIT, ("{C}({n})", "{C}()", "{C}({n}, True)"), readings=_SCALE, subclassable=True),
    "slots": Base(
        "class {C}:",
        ("__slots__ = ('scale', 'flag', 'option', 'items', 'table', 'name', 'extra', '__weakref__')", *_INIT),
        ("{C}({n})",),
        readings=tuple(text for text in _SCALE if not any(word in text for word in _SLOTTED)),
    ),
    "dataclass": Base(
        "@dataclasses.dataclass\nclass {C}:",
        (*_FIELDS, "items: list = dataclasses.field(default_factory=lambda: [{n}, {n}])",
         "table: dict = dataclasses.field(default_factory=lambda: {{'k': {n}}})"),
        ("{C}({n})", "{C}()", "{C}({n}, True)"),
        readings=(*_SCALE, "dataclasses.asdict({e})['scale']", "dataclasses.replace({e}, flag=True).scale",
                  "dataclasses.fields({e})[0].default", "dataclasses.astuple({e})[0]",
                  "(3.0 if {e} == {c}(2.0) else 5.0)", "{c}().scale", "{c}({n}).scale", "{c}().items[0]",
                  "{c}(flag=True).scale", "len(repr({e}))"),
    ),
    "frozen": Base(
        "@dataclasses.dataclass(frozen=True)\nclass {C}:",
        (*_FIELDS, "items: tuple = ({n}, {n})", "table: dict = dataclasses.field(default_factory=lambda: {{'k': {n}}})"),
        ("{C}({n})", "{C}()"),
        readings=(*_SCALE, "{c}().scale", "{c}({n}).scale", "dataclasses.replace({e}, flag=True).scale",
                  "(3.0 if {e} == {c}(2.0) else 5.0)"),
    ),
    "ordered": Base(
        "@dataclasses.dataclass(order=True)\nclass {C}:", _FIELDS, ("{C}({n})", "{C}()"),
        readings=("{e}.scale", "(3.0 if {e} < {c}(2.5) else 5.0)", "max({e}, {c}(1.0)).scale",
                  "sorted([{e}, {c}(2.0)])[0].scale"),
    ),
    "factory": Base(
        "@dataclasses.dataclass\nclass {C}:",
        ("scale: float = {n}", "made: list = dataclasses.field(default_factory=lambda: [{B0}])"),
        ("{C}({n})", "{C}()"),
        readings=("{e}.scale", "{c}().made[0]", "{e}.made[0]", "{c}({n}).made[-1]"),
    ),
    "named tuple": Base(
        "class {C}(typing.NamedTuple):", ("scale: float = {n}", "width: int = 3"), ("{C}({n})", "{C}()"),
        readings=("{e}.scale", "{e}[0]", "{e}.width", "sum({e})", "len({e})", "{e}._replace(width=1).scale",
                  "{c}().scale", "{c}({n}).width", "{e}._asdict()['scale']", "(3.0 if {e} == (2.0, 3) else 5.0)",
                  "(lambda a, b: a)(*{e})", "max({e})", "getattr({e}, 'extra', 7.0)", "{c}._make([2.0, 1]).scale",
                  "{c}._field_defaults['scale']"),
        unfit=frozenset({"__init__", "__slots__"}),
    ),
    "enum": Base(
        "class {C}(enum.Enum):", ("LOW = {n}", "HIGH = 16.0"), ("{C}.LOW", "{C}.HIGH"), own="self.value",
        readings=("{e}.value", "len({e}.name)", "(3.0 if {e} is {c}.LOW else 5.0)", "(3.0 if {e} == {c}.LOW else 5.0)",
                  "(3.0 if {e} in ({c}.LOW,) else 5.0)", "{c}['LOW'].value", "{c}(16.0).value", "len({c})",
                  "sum(m.value for m in {c})", "len(str({e}))", "len(f'{{{e}}}')", "getattr({e}, 'extra', 7.0)",
                  "{{{c}.LOW: 2.0}}.get({e}, 7.0)", "list({c})[0].value", "(3.0 if {e} in {c} else 5.0)",
                  "{c}.__members__['LOW'].value", "(3.0 if {e} else 5.0)"),
        class_readings=("{c}.LOW.value", "{c}.HIGH.value", "{c}(77.0).value"),
        unfit=frozenset({"__init__", "__call__", "class attribute", "annotated", "self attribute"}),
    ),
    "int enum": Base(
        "class {C}(enum.IntEnum):", ("LOW = 2", "HIGH = 8"), ("{C}.LOW", "{C}.HIGH"), own="int.__index__(self)",
        readings=(*_VALUE, "{e}.value", "[1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 4.0][{e}]", "{c}['LOW']"),
        class_readings=("{c}.LOW", "{c}(8)"),
        unfit=frozenset({"__init__", "class attribute", "annotated", "self attribute"}),
    ),
    "flag": Base(
        "class {C}(enum.Flag):", ("LOW = 1", "HIGH = 4"), ("{C}.LOW", "{C}.LOW | {C}.HIGH"), own="self.value",
        readings=("{e}.value", "({e} | {c}.HIGH).value", "(3.0 if {c}.HIGH in {e} else 5.0)",
                  "(3.0 if {e} & {c}.LOW else 5.0)", "(3.0 if {e} in {c}.LOW | {c}.HIGH else 5.0)", "(~{e}).value + 1", "({e} ^ {c}.LOW).value", "len({e})", "sum(m.value for m in {e})", "{c}(5).value"),
        unfit=frozenset({"__init__", "__call__", "class attribute", "annotated", "self attribute"}),
    ),
    "str enum": Base(
        "class {C}(str, enum.Enum):", ("LOW = 'relu'", "HIGH = 'neg'"), ("{C}.LOW",), own="len(self.value)",
        readings=("len({e}.value)", "(3.0 if {e} == 'relu' else 5.0)", "{{'relu': 2.0, 'neg': 3.0}}[{e}]", "len({e})",
                  "len(f'{{{e}.value}}')", "(3.0 if {e} is {c}('relu') else 5.0)"),
        unfit=frozenset({"__init__", "__call__", "class attribute", "annotated", "self attribute"}),
    ),
    "float": Base("class {C}(float):", (), ("{C}({n})",), own="float.__pos__(self)", readings=_VALUE,
                  unfit=frozenset({"__init__"})),
    "int": Base("class {C}(int):", (), ("{C}(2)", "{C}(3)"), own="int.__pos__(self)", unfit=frozenset({"__init__"}),
                readings=(*_VALUE, "[1.0, 2.0, 4.0, 8.0][{e}]", "sum(range({e}))", "sum([1.0, 2.0, 4.0][:{e}])")),
    "str": Base("class {C}(str):", (), ("{C}('relu')",), own="str.__len__(self)", unfit=frozenset({"__init__"}),
                readings=("len({e})", "(3.0 if {e} == 'relu' else 5.0)", "{{'relu': 2.0}}.get({e}, 7.0)",
                          "len({e} + 'ab')", "len(f'{{{e}}}')", "len({e}.upper())", "(3.0 if {e} else 5.0)",
                          "len({e}[1:])", "(3.0 if 'r' in {e} else 5.0)", "len({e}.join(['a', 'b']))")),
    "list": Base("class {C}(list):", (), ("{C}([{n}, {n}])",), own="list.__getitem__(self, 0)", readings=_ITEMS,
                 unfit=frozenset({"__init__"})),
    "tuple": Base("class {C}(tuple):", (), ("{C}([{n}, {n}])",), own="tuple.__getitem__(self, 0)", readings=_ITEMS,
                  unfit=frozenset({"__init__"})),
    "dict": Base("class {C}(dict):", (), ("{C}(scale={n}, b={n})",), own="dict.__getitem__(self, 'scale')",
                 readings=_KEYS, unfit=frozenset({"__init__"})),
    "attribute dict": Base(
        "class {C}(dict):", ("__getattr__ = dict.__getitem__", "__setattr__ = dict.__setitem__"),
        ("{C}(scale={n}, b={n})",), own="self.scale",
        readings=(*_KEYS, "{e}.scale", "getattr({e}, 'scale')", "{e}.b", "getattr({e}, 'items')() and 3.0"),
        unfit=frozenset({"__init__", "__getattr__", "self attribute"}),
    ),
    "gentle attribute dict": Base(
        "class {C}(dict):",
        ("def __getattr__(self, name):", "    if name in self:", "        return self[name]",
         "    raise AttributeError(name)"),
        ("{C}(scale={n}, b={n})",), own="self.scale",
        readings=(*_KEYS, "{e}.scale", "getattr({e}, 'scale')", "getattr({e}, 'q', 7.0)",
                  "(3.0 if hasattr({e}, 'q') else 5.0)"),
        unfit=frozenset({"__init__", "__getattr__"}),
    ),
    "set": Base("class {C}(set):", (), ("{C}([{n}, 2.0])",), own="set.__len__(self)", unfit=frozenset({"__init__"}),
                readings=("len({e})", "sum({e})", "(3.0 if 2.0 in {e} else 5.0)", "max({e})", "len({e} | {{9.0}})",
                          "(3.0 if {e} == {{2.0}} else 5.0)", "(3.0 if {e} else 5.0)")),
    "module": Base(
        "class {C}(torch.nn.Module):",
        ("def __init__(self, scale={n}, flag=False, option=None):", "    super().__init__()",
         *(f"    {line.strip()}" for line in _INIT[1:])),
        ("{C}({n})", "{C}()"),
        readings=(*_SCALE, "(3.0 if {e}.training else 5.0)"),
    ),
    "abstract": Base(
        "class {C}(abc.ABC):", _INIT, ("{C}({n})",), readings=(*_SCALE, "(3.0 if isinstance(2.0, {c}) else 5.0)",
                                                              "(3.0 if issubclass(str, {c}) else 5.0)"),
        class_readings=("(3.0 if isinstance('relu', {c}) else 5.0)", "(3.0 if issubclass(Other, {c}) else 5.0)",
                        "(3.0 if isinstance(OTHER, {c}) else 5.0)"),
    ),
    "protocol": Base(
        "@typing.runtime_checkable\nclass {C}(typing.Protocol):", ("def extra(self): ...",), ("Other()",), own="2.0",
        readings=("(3.0 if isinstance({e}, {c}) else 5.0)",), members=False,
        class_readings=("(3.0 if isinstance(OTHER, {c}) else 5.0)",),
    ),
    "meta": Base(
        "class Meta{C}(type):\n"
        "    def __len__(cls): return int({B0})\n"
        "    def __getitem__(cls, k): return {B0} if k != 1 else [][k]\n"
        "    def __mul__(cls, k): return {B0} * k\n"
        "    def __getattr__(cls, name): return {B0}\n"
        "    def __instancecheck__(cls, o): return {B0} > 2.0\n"
        "    def __contains__(cls, o): return {B0} > 2.0\n"
        "    def __iter__(cls): return iter([{B0}, {n}])\n"
        "    def __bool__(cls): return {B0} > 2.0\n"
        "    def __lt__(cls, o): return {B0} > 2.0\n"
        "    @property\n"
        "    def level(cls): return {B0}\n"
        "    def rate(cls, k=1.0): return {B0} * k\n"
        "class {C}(metaclass=Meta{C}):",
        _INIT, ("{C}({n})",), readings=_SCALE,
        class_readings=("len({c})", "{c}[0]", "{c} * 2.0", "{c}.missing", "(3.0 if isinstance(2.0, {c}) else 5.0)",
                        "(3.0 if 1.0 in {c} else 5.0)", "sum({c})", "(3.0 if {c} else 5.0)", "{c}.level",
                        "(3.0 if {c} < 2.0 else 5.0)", "{c}.rate()"),
    ),
    "generic": Base(
        "class {C}:", ("def __class_getitem__(cls, k): return {B0}", *_INIT), ("{C}({n})",), readings=_SCALE,
        class_readings=("{c}[0]", "{c}[int]"),
    ),
    "made by new": Base(
        "class {C}:",
        ("def __new__(cls, scale={n}):", "    made = object.__new__(cls)", "    made.scale = scale", "    return made"),
        ("{C}({n})", "{C}()"), readings=("{e}.scale", "{c}().scale", "{c}({n}).scale", "getattr({e}, 'extra', 7.0)"),
        unfit=frozenset({"__init__"}),
    ),
}  # fmt: skip
