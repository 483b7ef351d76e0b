# ruff: noqa: E501 - a form is one text
"""Ways to make values: what ``{0}`` names, ``{1}`` and ``{2}`` as each table says."""

from __future__ import annotations

FUNCTIONS_MADE = (
    "{0}_D = {{1.0: {2}, 2.0: {2}, 'a': 3.0}}\n{0}_g = {0}_D.get\ndef {0}(k=1.0): return {0}_g(k, {2})",
    "{0}_D = [{2}, {2}]\n{0}_g = {0}_D.__getitem__\ndef {0}(k=1.0): return {0}_g(0) * k",
    "{0}_D = [{2}, {2}]\n{0} = functools.partial({0}_D.count, 2.0)",
    "{0}_D = {{'v': {2}}}\ndef {0}(k=1.0, g={0}_D.get): return g('v') * k",
    "{0}_S = {{1.0, {2}}}\n{0} = {0}_S.__contains__",
    "{0}_D = [{2}, {2}]\ndef {0}(k=1.0): return sum(map({0}_D.__getitem__, range(2))) * k",
    "def {0}_a(k): return k * {1}\ndef {0}_b(k): return k + {2}\n{0}_F = [{0}_a, {0}_b]\ndef {0}(k=1.0):\n    for f in {0}_F: k = f(k)\n    return k",
    "def {0}(k=1.0): return (lambda j: j * {1})(k)",
    "def {0}(k=1.0): return [j * {1} for j in (k, 2.0)][0]",
    "def {0}(k=1.0, c={1}): return c * k",
    "def {0}_made(): return {1}\ndef {0}(k=1.0, make={0}_made): return make() * k",
    "class {0}_C:\n    def __init__(self, c={2}): self.c = c\n    def meth(self, k=1.0): return k * self.c\n{0}_I = {0}_C()\n{0} = {0}_I.meth",
    "class {0}_C:\n    c = {2}\n    @classmethod\n    def make(cls, k=1.0): return k * cls.c\n{0} = {0}_C.make",
    "class {0}_C:\n    def meth(self, k=1.0, j={2}): return k * j\n    part = functools.partialmethod(meth, j={2})\n{0} = {0}_C().part",
    "class {0}_C:\n    def __init__(self): self.f = lambda k=1.0: k * {2}\n{0}_I = {0}_C()\ndef {0}(k=1.0): return {0}_I.f(k)",
    "def {0}(k=1.0): return {1} * k",
    "def {0}(k=1.0, *, j={2}): return {1} * k + j",
    "{0} = lambda k=1.0: {1} * k",
    "def {0}_make(c):\n    def {0}(k=1.0): return c * k + {1}\n    return {0}\n{0} = {0}_make({2})",
    "def {0}_f(c, k=1.0): return c * k + {1}\n{0} = functools.partial({0}_f, {2})",
    "def {0}_f(k=1.0, c=0.0): return c * k + {1}\n{0} = functools.partial({0}_f, c={2})",
    "class {0}_C:\n    def meth(self, k=1.0): return k * {1}\n{0} = {0}_C().meth",
    "class {0}_C:\n    level = {2}\n    def __call__(self, k=1.0): return k * {1} + self.level\n{0} = {0}_C()",
    "{0}_D = {{1.0: {2}, 2.0: {2}}}\n{0} = functools.partial({0}_D.get, 1.0)",
    "{0}_D = [{2}, 3.0]\n{0} = {0}_D.__len__\n{0} = functools.partial({0}_D.__getitem__, 0)",
    "def {0}(k=1.0):\n    def inner(j): return j * {1}\n    return inner(k)",
    "def {0}(k=1.0):\n    total = 0.0\n    for i in range(3):\n        if i > k: break\n        total += {1}\n    return total",
    "def {0}(k=1.0):\n    if {1} > 2.0: return k\n    return {2}",
    "def {0}(k=1.0, _cache={{'v': {2}}}): return _cache['v'] * k + {1}",
    "def {0}(k=1.0, *rest, **named): return {1} * k + len(rest)",
    "{0} = functools.partial(max, {2})",
    "def {0}(k=1.0): return {0}.level * k\n{0}.level = {2}",
)
"""Ways to make a function ``{0}``; ``{1}`` is a number that is computed, ``{2}`` one that is written."""

RARE_FUNCTIONS_MADE = (
    "{0}_D = {{1.0: {2}, 2.0: {2}, 'a': 3.0}}\n{0}_g = {0}_D.get\ndef {0}(k=1.0): return {0}_g(k, {2})",
    "{0}_D = [{2}, {2}]\n{0}_g = {0}_D.__getitem__\ndef {0}(k=1.0): return {0}_g(0) * k",
    "{0}_D = [{2}, {2}]\n{0} = functools.partial({0}_D.count, 2.0)",
    "{0}_D = {{'v': {2}}}\ndef {0}(k=1.0, g={0}_D.get): return g('v') * k",
    "{0}_S = {{1.0, {2}}}\n{0} = {0}_S.__contains__",
    "{0}_D = [{2}, {2}]\ndef {0}(k=1.0): return sum(map({0}_D.__getitem__, range(2))) * k",
    "def {0}_a(k): return k * {1}\ndef {0}_b(k): return k + {2}\n{0}_F = [{0}_a, {0}_b]\ndef {0}(k=1.0):\n    for f in {0}_F: k = f(k)\n    return k",
    "def {0}(k=1.0): return (lambda j: j * {1})(k)",
    "def {0}(k=1.0): return [j * {1} for j in (k, 2.0)][0]",
    "def {0}(k=1.0, c={1}): return c * k",
    "def {0}_made(): return {1}\ndef {0}(k=1.0, make={0}_made): return make() * k",
    "class {0}_C:\n    def __init__(self, c={2}): self.c = c\n    def meth(self, k=1.0): return k * self.c\n{0}_I = {0}_C()\n{0} = {0}_I.meth",
    "class {0}_C:\n    c = {2}\n    @classmethod\n    def make(cls, k=1.0): return k * cls.c\n{0} = {0}_C.make",
    "class {0}_C:\n    def meth(self, k=1.0, j={2}): return k * j\n    part = functools.partialmethod(meth, j={2})\n{0} = {0}_C().part",
    "class {0}_C:\n    def __init__(self): self.f = lambda k=1.0: k * {2}\n{0}_I = {0}_C()\ndef {0}(k=1.0): return {0}_I.f(k)",
    "def {0}_deco(f):\n    @functools.wraps(f)\n    def wrapper(*args, **kwargs): return f(*args, **kwargs) + {2}\n    return wrapper\n@{0}_deco\ndef {0}(k=1.0): return {1} * k",
    "def {0}(k=1.0, depth=2): return {1} if depth == 0 else {0}(k, depth - 1) + k",
    "@functools.singledispatch\ndef {0}(k=1.0): return {2}\n@{0}.register\ndef _(k: float): return {1}",
    "def {0}(k=1.0):\n    match k:\n        case 1.0: return {1}\n        case _: return {2}",
    "{0} = operator.methodcaller('__mul__', {2})",
    "{0} = {2}.__mul__",
    "{0} = [{2}].count",
    "def {0}(k=1.0):\n    try: return {1} * k\n    except KeyError: return {2}",
    "def {0}(k=1.0):\n    import math\n    return {1} * k",
    "def {0}(k=1.0): return globals()['{0}_G'] * k\n{0}_G = {2}",
    "def {0}(k=1.0): return eval('{0}_G') * k\n{0}_G = {2}",
    "def {0}(k=1.0): return sys.modules[__name__].{0}_G * k\n{0}_G = {2}",
)
"""The same, mostly refused by the interpreter."""

CHOICES_MADE = (
    "{0} = {{'relu': ttnn.relu, 'neg': ttnn.neg, 'abs': ttnn.abs}}\n{0}_NAME = 'relu'",
    "def {0}_f(t): return ttnn.relu(t)\ndef {0}_g(t): return t * {1}\n{0} = {{'relu': {0}_f, 'neg': {0}_g, 'abs': ttnn.abs}}\n{0}_NAME = 'relu'",
    "class {0}_A:\n    def __init__(self, k): self.k = k\n    def __call__(self, t): return t * self.k\n{0} = {{'relu': {0}_A({1}), 'neg': {0}_A({1}), 'abs': ttnn.neg}}\n{0}_NAME = 'relu'",
    "class {0}_A:\n    def __init__(self, k={1}): self.k = k\n    def __call__(self, t): return t * self.k\n{0} = {{'relu': {0}_A, 'neg': {0}_A, 'abs': {0}_A}}\n{0}_NAME = 'relu'",
)
"""Tables of activations ``{0}`` and the name ``{0}_NAME`` of one; ``{1}`` is a number."""

NESTED_MADE = (
    ("types.SimpleNamespace(scale={0}, extra={1})", "{0}.scale"),
    ("types.SimpleNamespace(inner=types.SimpleNamespace(scale={0}))", "{0}.inner.scale"),
    ("[[{0}], [{1}]]", "{0}[0][0]"),
    ("{{'a': {{'b': [{0}, {1}]}}}}", "{0}['a']['b'][0]"),
    ("[{{'k': {0}}}, {{'k': {1}}}]", "{0}[-1]['k']"),
    ("({0}, [{1}])", "{0}[0]"),
    ("types.SimpleNamespace(layers=[{0}, {1}])", "{0}.layers[-1]"),
    ("slice({0}, {1})", "{0}.start"),
    ("collections.namedtuple('P', 'a b')({0}, {1})", "{0}.a"),
    ("types.MappingProxyType({{'k': {0}}})", "{0}['k']"),
    ("functools.partial(max, {0}, {1})", "{0}.args[0]"),
    ("argparse.Namespace(scale={0})", "{0}.scale"),
    ("weakref.WeakValueDictionary()", "{0}.get('k', 7.0)"),
    ("types.ModuleType('made')", "getattr({0}, 'k', 7.0)"),
    ("(lambda k: lambda: k)({0})", "{0}()"),
    ("collections.UserList([{0}])", "{0}[0]"),
    ("iter([{0}])", "next({0})"),
    ("itertools.cycle([{0}, {1}])", "next({0})"),
    ("contextvars.ContextVar('v', default={0})", "{0}.get()"),
)
"""Things that hold others, ``{0}`` and ``{1}``; and the way to one of these."""

MAPPINGS_MADE = (
    "{{{}}}",
    "{{{}}}",
    "{{{}}}",
    "{{{}}}",
    "{{{}}}",
    "collections.OrderedDict({{{}}})",
    "types.MappingProxyType({{{}}})",
    "collections.defaultdict(lambda: 7.0, {{{}}})",
    "collections.ChainMap({{{}}})",
    "collections.UserDict({{{}}})",
)
"""Dicts, and what is used as one, of the items ``{}``."""
