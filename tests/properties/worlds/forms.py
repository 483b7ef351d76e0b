# ruff: noqa: E501 - a form is one text
"""How a program reads numbers, lists, dicts, sets and functions: expressions, and statements around them.

``{e}`` is the value read, ``{v}`` a reading of the loop variable `v`, ``{n}`` and ``{m}`` other numbers, ``{r}`` the
name of the result, ``{k}`` a key.
"""

from __future__ import annotations

NUMBERS = (
    "{e}", "{e}", "{e}", "float({e})", "(3.0 if {e} else 5.0)", "({m} if {e} > 2.0 else 5.0)", "(1.0 < {e} < 4.0) + 1",
    "{e} + 1.0", "(lambda k: k + {e})(1.0)", "max({e}, 0.5)", "[{e}][0]", "abs({e})", "float('%s' % {e})",
    "{{'k': {e}}}['k']", "({e} == 2.0) + 1", "({e} is None) + 1", "isinstance({e}, int) + 1", "sum([{e}, 1.0])",
    "len(str({e}))", "(type({e}) is float) + 1", "min([{e}, 2.5])", "-{e}", "round({e})", "{e} // 1", "(not {e}) + 1",
    "({e} or 7.0)", "({e} and 7.0)", "[*map(float, [{e}])][0]", "(lambda *a, **k: a[0])({e}, z=1)",
    "len('{{}}'.format({e}))", "sum(k for k in (1.0, 2.0) if k <= {e})", "(3.0 if {e} in (2.0, 3.0) else 5.0)",
    "(w := {e}) + w", "math.floor({e})", "len(f'{{{e}}}')", "int({e})", "(lambda k={e}: k)()",
    "{{2.0: 3.0, 0.5: 6.0}}.get({e}, 7.0)", "[1.0, 2.0, 4.0, 8.0][int({e}) % 4]", "functools.partial(max, {e})(1.0)",
    "complex({e}).real", "list(range(int(abs({e})) + 1))[-1]", "np.float32({e})", "float(np.float64({e}))",
)  # fmt: skip

SEQUENCES = (
    "sum({v} for v in {e})", "sum([{v} for v in {e}])", "sum(map(lambda v: {v}, {e}))", "len({e})",
    "functools.reduce(lambda a, v: a + {v}, {e}, 0)", "max(map(lambda v: {v}, {e}))", "math.fsum({v} for v in {e})",
    "[{v} for v in {e}][0]", "[{v} for v in {e}][-1]", "sum({v} for v in {e}[1:])", "sum({v} for v in {e}[::-1][:1])",
    "sum({v} * i for i, v in enumerate({e}))", "sum({v} for v, _ in zip({e}, {e}))", "(lambda v: {v})(next(iter({e})))",
    "sum({v} for v in reversed({e}))", "(lambda v: {v})([*{e}][0])", "(lambda v, *rest: {v})(*{e})",
    "sum({v} for v in {e} if {v} > 1.5)", "(lambda v: {v})(sorted({e}, key=lambda v: {v})[0])",
    "(lambda v: {v})(max({e}, key=lambda v: {v}))", "(lambda v: {v})(min({e}, key=lambda v: -({v})))",
    "len(list(filter(lambda v: {v} > 2.0, {e})))", "any({v} > 2.0 for v in {e}) + 1", "all({v} > 2.0 for v in {e}) + 1",
    "sum({v} for v in tuple({e}))", "sum({v} for v in list({e}))", "(3.0 if {e} else 5.0)", "(3.0 if {e} == {e} else 5.0)",
    "{e}.count({e}[0])", "{e}.index({e}[-1])", "(3.0 if {e}[0] in {e} else 5.0)", "len({e} + {e})", "len({e} * 2)",
    "sum({v} for v in itertools.chain({e}, {e}))", "sum({v} for v in itertools.islice({e}, 1))",
    "sum({v} for v in ({e} + {e})[1:2])", "sum({{i: {v} for i, v in enumerate({e})}}.values())",
    "len({{{v} for v in {e}}})", "(lambda v: {v})(operator.itemgetter(0)({e}))", "sum({v} for v in {e}.copy())",
    "sum({v} for v in copy.copy({e}))", "(lambda v: {v})({e}[len({e}) - 1])", "sum([{e}[i] is {e}[0] for i in range(1)])",
    "sum(starmap for starmap in itertools.starmap(lambda v, w: {v}, zip({e}, {e})))",
    "sum({v} for w in [{e}] for v in w)", "(lambda v: {v})(dict(enumerate({e}))[0])", "math.prod({v} for v in {e})",
    "(3.0 if {e} is {e} else 5.0)", "sum(itertools.accumulate({v} for v in {e}))", "(lambda v: {v})({e}.__getitem__(0))",
    "sum(map(operator.attrgetter('scale'), {e}))", "max({e}, key=operator.attrgetter('scale')).scale",
    "sorted({e}, key=operator.attrgetter('scale'))[-1].scale", "'{{0[0].scale}}'.format({e}).count('0') + 1",
    "float('{{0[0].scale}}'.format({e}))", "sum({e})", "max({e})", "sorted({e})[0]", "len(str({e}))",
)  # fmt: skip
STATEMENTS_OF_SEQUENCES = (
    "{r} = x\nfor v in {e}:\n    {r} = {r} * ({v})",
    "{r} = x\nfor i, v in enumerate({e}):\n    if i == 1:\n        break\n    {r} = {r} * ({v})",
    "v, *rest = {e}\n{r} = x * ({v}) * len(rest)",
    "*rest, v = {e}\n{r} = ttnn.multiply(x, {v})",
    "{r} = x\nfor i in range(len({e})):\n    v = {e}[i]\n    {r} = {r} * ({v})",
    "def inner(v, k=1.0):\n    return ({v}) * k\n{r} = x * sum(inner(w) for w in {e})",
    "total = 0.0\nfor v in {e}:\n    total += {v}\n{r} = x * total",
    "rest = list({e})\nv = rest.pop()\n{r} = x * ({v})",
    "i = 0\nwhile i < len({e}):\n    i += 1\n    if i > 9 or i < 0: break\n{r} = x * i",
)

MAPPINGS = (
    "(lambda v: {v})({e}[{k}])", "(lambda v: {v})({e}.get({k}))", "sum({v} for v in {e}.values())", "len({e})",
    "sum({v} for w, v in {e}.items())", "(3.0 if {k} in {e} else 5.0)", "{e}.get('zz', 7.0)", "len({e}.keys())",
    "(lambda v: {v})({{**{e}}}[{k}])", "(lambda v: {v})(dict({e})[{k}])", "(lambda v: {v})(list({e}.values())[0])",
    "sum(map(lambda v: {v}, {e}.values()))", "(3.0 if 'zz' in {e} else 5.0)", "(3.0 if {e} else 5.0)",
    "sum({v} for v in map({e}.get, [{k}]))", "(lambda v: {v})(operator.itemgetter({k})({e}))", "len(list({e}))",
    "(lambda v: {v})(next(iter({e}.values())))", "(lambda v: {v})(sorted({e}.items(), key=lambda p: len(str(p[0])))[0][1])",
    "(lambda v: {v})([{e}[w] for w in {e}][0])", "(3.0 if {e} == {e} else 5.0)", "(lambda v: {v})({e}.__getitem__({k}))",
    "len({e} | {e})", "(lambda v: {v})(({e} | {{}})[{k}])", "(lambda v: {v})(({e}.get('zz') or {e}[{k}]))",
    "(lambda v: {v})({e}.copy()[{k}])", "len({{w: 1 for w in {e}}})", "(3.0 if next(iter({e})) == {k} else 5.0)",
    "(lambda v: {v})(functools.partial({e}.get, {k})())", "(3.0 if [*{e}][-1] == {k} else 5.0)",
)  # fmt: skip
STATEMENTS_OF_MAPPINGS = (
    "{r} = x\nfor w, v in {e}.items():\n    {r} = {r} * ({v})",
    "{r} = x\nfor w in {e}:\n    v = {e}[w]\n    {r} = {r} * ({v})",
    "v = {e}[{k}]\n{r} = x * ({v})",
    "v = {e}.get({k}, None)\n{r} = x if v is None else x * ({v})",
    "get = {e}.get\nv = get({k})\n{r} = x * ({v})",
)

MEMBERS = (
    "(3.0 if {k} in {e} else 5.0)", "len({e})", "(3.0 if {e} else 5.0)", "(3.0 if {k} not in {e} else 5.0)",
    "len({e} | {{-1}})", "sum(1.0 for w in {e})", "(3.0 if {e} == {{{k}}} else 5.0)", "len(list({e}))",
    "(3.0 if {e} >= {{{k}}} else 5.0)", "len({e} & {{{k}}})", "len(frozenset({e}))", "len({e} - {{{k}}})",
    "(3.0 if {e}.issuperset([{k}]) else 5.0)", "any(w == {k} for w in {e}) + 1",
)  # fmt: skip

FUNCTIONS = (
    "{e}()", "{e}(2.0)", "sum(map({e}, [1.0, 2.0]))", "functools.partial({e}, 2.0)()", "(lambda f: f(2.0))({e})",
    "max([1.0, 2.0], key={e})", "sorted([1.0, 2.0], key={e})[0]", "[f() for f in [{e}]][0]", "(3.0 if callable({e}) else 5.0)",
    "{e}(*[2.0])", "{e}(*(), **{{}})", "functools.reduce(lambda a, b: a + {e}(b), [1.0, 2.0])",
    "len(list(filter({e}, [0.0, 1.0])))", "{e}({n})", "({e} if {n} > 2.0 else {e})()", "sum({e}(k) for k in [1.0, 2.0])",
)  # fmt: skip

CHOICES = (
    "{r} = {e}(x) * 3.0",
    "{r} = (lambda f: f(x))({e})",
    "f = {e}\n{r} = f(x)",
    "{r} = functools.partial({e}, x)()",
    "{r} = [f(x) for f in [{e}]][0]",
    "{r} = x\nfor f in ({e}, ttnn.neg):\n    {r} = f({r})",
    "{r} = functools.reduce(lambda t, f: f(t), [{e}], x)",
)

STATEMENTS = (
    "{r} = x * ({e})", "{r} = x * ({e})", "{r} = x * ({e})", "{r} = x * ({e})", "{r} = ttnn.multiply(x, {e})", "{r} = x + ({e})", "{r} = ({e}) - x",
    "t = {e}\n{r} = x * len(f'{{t}}')", "t = {e}\n{r} = x * (3.0 if f'{{t:.1f}}' == '2.0' else 5.0)",
    "if {e} > 2.0:\n    {r} = ttnn.neg(x)\nelse:\n    {r} = x * 3.0", "{r} = ttnn.relu(x) if {e} else ttnn.neg(x)",
    "def inner(t, k={e}):\n    return t * k\n{r} = inner(x)", "t = ({e}, 2.0)\none, two = t\n{r} = x * one + two",
    "inner = lambda t: t * ({e})\n{r} = inner(x)", "{r} = x * {{'a': {e}, **{{'b': 1.0}}}}['a']",
    "assert {e} is not None\n{r} = x * ({e})", "{r} = x\n{r} *= {e}", "{r} = x\nfor _ in range(int(abs({e})) % 4):\n    {r} = {r} + x",
    "if (t := {e}) is None:\n    {r} = x\nelse:\n    {r} = x * t",
)  # fmt: skip

REFUSED_STATEMENTS = (
    "match {e}:\n    case 2.0:\n        {r} = x * 3.0\n    case _:\n        {r} = x * 5.0",
    "try:\n    {r} = x * ({e})\nexcept KeyError:\n    {r} = x",
)
"""Statements that the interpreter refuses today; a trace accepts them."""
