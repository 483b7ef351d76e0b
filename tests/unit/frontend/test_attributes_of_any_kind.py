"""Reads of an attribute are recorded for any kind of descriptor and any form of access."""

from __future__ import annotations

import itertools
import linecache

import pytest

from tests.unit.frontend.stand_in import BF16, lowered
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.guards.reads import compile_guard

MAIN = """\
import functools, operator, types
G = 2
def method(self=None, *rest): return G
class Called:
    def __call__(self, *rest): return G
class Getting:
    def __get__(self, instance, owner=None): return G
class GettingBoth(Getting):
    def __set__(self, instance, value): pass
class GettingStatic: __get__ = staticmethod(lambda *rest: G)
class GettingCached: __get__ = functools.lru_cache(maxsize=0)(lambda *rest: G)
class GettingPartial: __get__ = functools.partialmethod(lambda *rest: G)
class Property(property): pass
class Overriding(property):
    def __get__(self, instance, owner=None): return G
class Base:
    @property
    def inherited(self): return G
    def of_base(self): return G
class C(Base{base}):
    {beside}
    m = {member}
v = {made}
def helper(o): return o.m
def program(x{parameter}): return x * ({expression})
"""
MEMBERS = """\
property(method) ;; property(functools.lru_cache(maxsize=0)(method)) ;; property(functools.partial(method))
property(Called())
Property(method) ;; Overriding(method) ;; functools.cached_property(functools.partial(method))
types.DynamicClassAttribute(method)
Getting() ;; GettingBoth() ;; GettingStatic() ;; GettingCached() ;; GettingPartial() ;; classmethod(method)
staticmethod(method)
functools.lru_cache(maxsize=0)(method) ;; functools.partialmethod(method) ;; functools.partial(method)
Called() ;; method
types.MethodType(method, 1) ;; classmethod(property(method)) ;; functools.singledispatchmethod(method) ;; Base.of_base
Base().of_base ;; staticmethod(functools.lru_cache(maxsize=0)(method)) ;; classmethod(functools.partial(method))
functools.wraps(method)(lambda *rest: method(*rest)) ;; property(operator.methodcaller('of_base'))
property(operator.attrgetter('inherited')) ;; functools.singledispatch(method)"""
EXPRESSIONS = """\
v.m ;; v.m() ;; getattr(v, 'm', 7) ;; hasattr(v, 'm') and v.m ;; operator.attrgetter('m')(v)
operator.methodcaller('m')(v)
type(v).m ;; C.m(v) ;; len('{0.m}'.format(v) * G) ;; helper(v) ;; [o.m for o in [v]][0] ;; sum(map(v.m, [1]))
v.__class__.m
super(C, v).inherited ;; super(C, v).of_base() ;; v.inherited ;; v.of_base() ;; C.__dict__['m'].__get__(v)
max([v], key=operator.attrgetter('m')).m ;; v.__getattribute__('m') ;; functools.partial(getattr, v, 'm')() ;; v.q"""
BESIDE = {
    "nothing": "pass",
    "a function": "__getattr__ = lambda self, name: G if name == 'q' else [].zz",
    "a cached function": "__getattr__ = functools.lru_cache(maxsize=0)(lambda self, name: G if name == 'q' else [].zz)",
}
_numbers = itertools.count()


def listed(text):
    return text.replace("\n", " ;; ").split(" ;; ")


class Number:
    def __mul__(self, other):
        return other


def factor_in_python(space, arguments, number):
    """The factor of the program in Python; None if that fails."""
    space["G"] = number
    try:
        return space["program"](Number(), *arguments)
    except Exception:  # noqa: BLE001 - not every expression fits every member
        return None


def loaded(member, expression, beside, *, argument):
    text = MAIN.format(
        base=", float" if argument else "",
        made="C(2.0)" if argument else "C()",
        parameter=", v" if argument else "",
        beside=BESIDE[beside],
        member=member,
        expression=expression,
    )
    file = f"<attributes {next(_numbers)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    space = {"__name__": "attributes"}
    exec(compile(text, file, "exec"), space)
    return space


def is_missed(space, arguments):
    first, second = factor_in_python(space, arguments, 2), factor_in_python(space, arguments, 3)
    if first is None or second is None or first == second or factor_in_python(space, arguments, 2) != first:
        return False
    try:
        result = lowered(space["program"], BF16, *arguments)
    except CompileError:
        return False
    guard = compile_guard(space["program"], result.reads)
    assert result.opaque or guard()
    space["G"] = 3
    return not result.opaque and guard()


@pytest.mark.parametrize("argument", [False, True], ids=["global", "argument"])
@pytest.mark.parametrize("member", listed(MEMBERS))
def test_the_reads_of_an_attribute_are_recorded(member, argument):
    missed = []
    for beside, expression in itertools.product(BESIDE, listed(EXPRESSIONS)):
        if beside != "nothing" and expression not in {"v.m", "getattr(v, 'm', 7)", "v.q"}:
            continue
        space = loaded(member, expression, beside, argument=argument)
        if is_missed(space, [space["v"]] if argument else []):
            missed.append((beside, expression))
    assert missed == []
