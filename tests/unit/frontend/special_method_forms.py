"""Possible results of user-defined special methods, and expressions in which C or Python calls them."""

from __future__ import annotations

METHODS = {
    "__index__": (
        "return G",
        r"""
'ab' * v ;; v * 'ab' ;; b'ab' * v ;; v * b'ab' ;; [1] * v ;; v * [1] ;; (1,) * v ;; v * (1,) ;; LIST * v ;;
v * LIST ;; operator.mul('ab', v) ;; 'ab'.__mul__(v) ;; (1,).__rmul__(v) ;; operator.mul(LIST, v) ;;
LIST.__mul__(v) ;; math.prod(['ab', v]) ;; [1, 2, 3, 4][v] ;; LIST[v] ;; 'abcd'[v] ;; range(9)[v] ;; LIST[v:] ;;
LIST[:v] ;; LIST[::v] ;; 'abcd'[v:] ;; (1, 2, 3, 4)[:v] ;; LIST.__getitem__(v) ;; operator.getitem(LIST, v) ;;
operator.itemgetter(v)(LIST) ;; operator.getitem(LIST, slice(v)) ;; slice(v).indices(3) ;; range(v) ;;
range(0, v) ;; range(0, 9, v) ;; bytes(v) ;; chr(v) ;; hex(v) ;; oct(v) ;; bin(v) ;; round(2.12345, v) ;;
round(FLOAT, v) ;; operator.index(v) ;; int(v) ;; int('111', v) ;; int('111', base=v) ;; int(TEXT, v) ;;
float(v) ;; complex(v) ;; complex(1.0, v) ;; pow(2, 3, 5) * int(v) ;; math.gcd(v, 6) ;; math.lcm(v, 5) ;;
math.factorial(v) ;; math.comb(v, 2) ;; math.comb(9, v) ;; math.perm(v) ;; math.isqrt(v) ;; math.sqrt(v) ;;
math.floor(v) ;; math.ceil(v) ;; math.fsum([v, 1.0]) ;; math.hypot(v, 1.0) ;; math.dist((v,), (0,)) ;;
math.pow(v, 2) ;; math.copysign(v, 1.0) ;; math.exp(v) ;; 'abc'.center(v) ;; 'abc'.ljust(v) ;; 'abc'.zfill(v) ;;
'abcabc'.find('a', v) ;; 'abcabc'.count('a', v) ;; 'a b c d'.split(' ', v) ;; 'aaaa'.replace('a', 'bb', v) ;;
TEXT.center(v) ;; (1, 2, 1, 1, 1).index(1, v) ;; LIST.index(1, v) ;; 'a\tb'.expandtabs(v) ;;
(5).to_bytes(v, 'big') ;; (2.5).__round__(v) ;; '%d' % v ;; '%s' % ('%x' % v) ;; '%c' % v ;;
'{:{}}'.format('a', int(v)) ;; list(itertools.islice(LIST, v)) ;; list(itertools.combinations(LIST, v)) ;;
list(enumerate('ab', v)) ;; list(itertools.product('ab', repeat=v)) ;; list(itertools.islice(LIST, 0, v)) ;;
list(itertools.islice(iter(LIST), v)) ;; [*range(9)].pop(v) ;; sorted(LIST, reverse=v) ;;
inserted([1, 2, 3, 4], v) ;; stored([1, 2, 3, 4], v) ;; repeated([1, 2], v) ;; deleted([1, 2, 3, 4], v) ;;
sliced([1, 2, 3, 4], v) ;; 'ab' * WRAPPED.v ;; NUMPY * v ;; v * NUMPY ;; np.float64(2.0) * v ;;
functools.reduce(operator.mul, ['ab', v]) ;; list(map(operator.mul, ['ab'], [v]))
""",
    ),
    "__float__": (
        "return float(G)",
        r"""
float(v) ;; complex(v) ;; complex(1.0, v) ;; math.sqrt(v) ;; math.exp(v) ;; math.floor(v) ;; math.ceil(v) ;;
math.fsum([v]) ;; math.pow(v, 2) ;; math.pow(2, v) ;; math.hypot(v) ;; math.isclose(v, 2) ;;
math.dist((v,), (0,)) ;; '%f' % v ;; '%g' % (v,) ;; '%(k)f' % {'k': v} ;; sum(map(float, [v])) ;;
math.atan2(1, v) ;; math.fmod(v, 3) ;; math.log(v) ;; math.log(8, v) ;; math.copysign(v, 1) ;; math.ldexp(v, 1) ;;
math.modf(v) ;; list(map(math.exp, [v])) ;; max([1.0, 3.0], key=lambda k: float(v) * k) ;; [*map(float, [v])] ;;
math.radians(v) ;; '%5.1f' % v ;; NUMPY * v ;; v * NUMPY ;; NUMPY + v ;; NUMPY == v ;; np.float64(2.0) * v ;;
np.sqrt(v) ;; np.float32(v) ;; np.add(NUMPY, v)
""",
    ),
    "__bool__": (
        "return G > 2",
        r"""
bool(v) ;; not v ;; (1 if v else 2) ;; (v and 1) ;; (v or 1) is v ;; any([v]) ;; all([v]) ;; operator.truth(v) ;;
operator.not_(v) ;; list(filter(None, [v, 1])) ;; list(filter(lambda k: v, [1, 2])) ;; list(filter(bool, [v])) ;;
list(itertools.compress([1], [v])) ;; list(itertools.takewhile(lambda k: v, [1])) ;;
list(itertools.dropwhile(lambda k: v, [1])) ;; [k for k in [1] if v] ;; list(itertools.filterfalse(None, [v])) ;;
list(itertools.filterfalse(lambda k: v, [1])) ;; (1 if RETURNS < 1 else 2) ;; (1 if 1 > RETURNS else 2) ;;
max([1, RETURNS]) is RETURNS ;; (1 if 1 in CONTAINS else 2) ;; [RETURNS].count(1) ;;
(1 if [RETURNS] == [1] else 2) ;; 1 in [RETURNS] ;; sorted([2, 1], reverse=v) ;;
sorted([RETURNS, 1])[0] is RETURNS ;; [*itertools.islice(iter(lambda: RETURNS, 1), 2)] ;; while_it(v) ;;
asserted(v) ;; min([v], key=bool) and bool(v)
""",
    ),
    "__len__": (
        "return G - 2",
        r"""
len(v) ;; bool(v) ;; not v ;; (1 if v else 2) ;; any([v]) ;; v.__len__() ;; len([*map(len, [v])]) * len(v) ;;
operator.truth(v)
""",
    ),
    "__str__": (
        "return 'a' * G",
        r"""
str(v) ;; f'{v}' ;; '%s' % v ;; '%s' % (v,) ;; '{}'.format(v) ;; '{:>3}'.format(v) ;; format(v) ;;
'a'.join([str(v)]) ;; v.__format__('') ;; '{0}'.format(v) ;; '{k}'.format(k=v) ;; '{k}'.format_map({'k': v}) ;;
'%(k)s' % {'k': v} ;;
''.join(map(str, [v])) ;; f'{v!s}' ;; f'{v:}'
""",
    ),
    "__repr__": (
        "return 'a' * G",
        r"""
repr(v) ;; f'{v!r}' ;; v.__str__() ;; v.__format__('') ;; '%r' % v ;; '%r' % (v,) ;; str([v]) ;; str((v,)) ;;
str({1: v}) ;; '{!r}'.format(v) ;;
f'{[v]}' ;; '%s' % [v] ;; repr({'k': v})
""",
    ),
    "__format__": (
        "return 'a' * G",
        r"""
f'{v}' ;; f'{v:>3}' ;; format(v) ;; format(v, 'x') ;; '{}'.format(v) ;; '{:x}'.format(v) ;; '{k:x}'.format(k=v) ;;
'{[0]}'.format([v])
""",
    ),
    "__iter__": (
        "return iter([G - 2, 4])",
        r"""
list(v) ;; tuple(v) ;; sum(v) ;; [*v] ;; max(v) ;; sorted(v) ;; set(v) ;; dict(enumerate(v)) ;; [k for k in v] ;;
1 in v ;; list(zip(v, v)) ;; list(map(str, v)) ;; list(filter(None, v)) ;; math.fsum(v) ;; math.prod(v) ;;
bytes(v) ;; ''.join(map(str, v)) ;; list(itertools.chain(v)) ;; list(itertools.islice(v, 1)) ;;
list(itertools.chain.from_iterable([v])) ;; list(itertools.starmap(max, [v])) ;; extended([1], v) ;;
grown([1], v) ;; replaced([1], v) ;; [1].__iadd__(v) ;; any(k for k in v if k < 4) ;; all(v) ;; {*v} ;; next(iter(v)) ;;
(lambda *a: a)(*v) ;; unpacked(v) ;; list(itertools.zip_longest(v, [1])) ;; list(itertools.accumulate(v)) ;;
list(itertools.pairwise(v)) ;; list(itertools.product(v)) ;; list(reversed([*v])) ;; operator.countOf(v, 1) ;;
frozenset(v) ;; {1}.union(v) ;; {0}.issubset(v) ;; dict.fromkeys(v) ;; dict([v]) ;;
itertools.groupby(v) and list(v) ;; list(itertools.compress(v, v)) ;; '%s%s' % tuple(v)
""",
    ),
    "__eq__": (
        "return G > 2",
        r"""
v == 1 ;; 1 == v ;; v != 1 ;; 1 != v ;; v in [1] ;; 1 in [v] ;; [1].count(v) ;; (1, v) == (1, 1) ;; [v] == [1] ;;
{'k': v} == {'k': 1} ;; operator.eq(v, 1) ;; operator.countOf([1], v) ;; (1,).index(v) if 1 == v else 7 ;;
[1, 2].index(v) if v == 1 else 7 ;; (1 in (v,)) ;; {1: 5}.get(v) ;; len({1, v}) ;; v in {1} ;; v in {1: 2} ;;
max([(v, 1), (1, 2)])[1]
""",
    ),
    "__complex__": (
        "return complex(G)",
        r"""
complex(v) ;; complex(v, 1) ;; complex(1, v.__complex__().real)
""",
    ),
    "__bytes__": (
        "return b'a' * G",
        r"""
bytes(v) ;; len(bytes(v))
""",
    ),
    "__length_hint__": (
        "return G",
        r"""
operator.length_hint(v) ;; operator.length_hint(v, 3)
""",
    ),
    "__lt__": (
        "return G > 2",
        r"""
v < 1 ;; 1 > v ;; max([1, v]) is v ;; min([v, 1]) is v ;; sorted([1, v])[0] is v ;; max(v, 1) is v ;;
(1, v) > (1, 1) ;; [v] < [1] ;; operator.lt(v, 1) ;; sorted([(1, v), (1, 1)])[0][1] ;;
sorted([1, 2], key=lambda k: v)[0] if v < 1 else 9 ;; max([1, 2], key=lambda k: v) if v < 1 else 9 ;;
(1 if v < 1 else 2) ;; functools.reduce(max, [1, v]) is v
""",
    ),
    "__rmul__": (
        "return G",
        r"""
2 * v ;; math.prod([2, v]) ;; functools.reduce(operator.mul, [2, v]) ;; operator.mul(2, v) ;; NUMPY * v ;;
np.float64(2) * v ;; 2.5 * v ;; True * v ;; list(map(operator.mul, [2], [v])) ;;
list(itertools.accumulate([2, v], operator.mul))
""",
    ),
    "__radd__": (
        "return [G] if type(other) is list else G",
        r"""
1 + v ;; sum([v]) ;; sum([1, v]) ;; sum([1.5, v]) ;; NUMPY + v ;; list(itertools.accumulate([1, v])) ;;
functools.reduce(operator.add, [1, v]) ;; 'a' + v ;; (1,) + v ;; [1] + v ;; sum([[1], v], []) ;;
sum((v,), start=1)
""",
    ),
    "__mul__": (
        "return G",
        r"""
v * 2 ;; math.prod([v]) ;; v * 2.5 ;; v * 'a' ;; v * [1] ;; v * v ;; operator.mul(v, 2) ;; math.prod([v, 2]) ;;
v * NUMPY ;; functools.reduce(operator.mul, [v, 2]) ;; v.__mul__(2)
""",
    ),
    "__getitem__": (
        "return G",
        r"""
v[0] ;; v[-1] ;; v['k'] ;; v[0:1] ;; operator.getitem(v, 0) ;; operator.itemgetter(0)(v) ;; '{0[0]}'.format(v) ;;
'{0[k]}'.format(v) ;; v.__getitem__(0) ;; list(map(operator.itemgetter(0), [v])) ;;
max([v, v], key=operator.itemgetter(0))[0]
""",
    ),
    "__getitem__ ": (
        "return G + 4 if key == 0 else [][7]",
        r"""
list(v) ;; tuple(v) ;; sum(v) ;; [*v] ;; [k for k in v] ;; 7 in v ;; max(v) ;; sorted(v) ;; set(v) ;;
list(zip(v)) ;; list(map(str, v)) ;; math.prod(v) ;; next(iter(v)) ;; math.fsum(v) ;; (lambda *a: a)(*v) ;;
','.join(map(str, v))
""",
    ),
    "__contains__": (
        "return G > 2",
        r"""
1 in v ;; 1 not in v ;; operator.contains(v, 1) ;; v.__contains__(1) ;; [k for k in [1] if k in v] ;;
list(filter(v.__contains__, [1]))
""",
    ),
    "__getattr__": (
        "return G if key == 'q' else [].zz",
        r"""
v.q ;; getattr(v, 'q') ;; getattr(v, 'q', 7) ;; operator.attrgetter('q')(v) ;; '{0.q}'.format(v) ;;
'{v.q}'.format(v=v) ;; sum(map(operator.attrgetter('q'), [v])) ;; sorted([v], key=operator.attrgetter('q'))[0].q ;;
f'{v.q}'
""",
    ),
    "__call__": (
        "return G",
        r"""
v() ;; list(map(v, [1])) ;; max([1, 2], key=v) * v() ;; sorted([1], key=v)[0] * v() ;;
functools.reduce(v, [1, 2]) ;; functools.partial(v, 1)() ;; list(filter(v, [1, 2])) and v() ;;
list(itertools.accumulate([1, 2], v)) ;; list(itertools.starmap(v, [(1, 2)])) ;; operator.call(v) ;;
list(itertools.takewhile(lambda k: v() > 2, [1]))
""",
    ),
    "__round__": (
        "return G",
        r"""
round(v) ;; round(v, 1) ;; list(map(round, [v])) ;; v.__round__()
""",
    ),
    "__abs__": (
        "return G",
        r"""
abs(v) ;; operator.abs(v) ;; list(map(abs, [v])) ;; max([1, v], key=abs) is v ;; math.fabs(abs(v)) ;;
sorted([2.5, v], key=abs)[0] is v
""",
    ),
    "__neg__": (
        "return G",
        r"""
-v ;; operator.neg(v) ;; list(map(operator.neg, [v]))
""",
    ),
    "__floor__": (
        "return G",
        r"""
math.floor(v) ;; list(map(math.floor, [v]))
""",
    ),
    "__reversed__": (
        "return iter([G])",
        r"""
[k for k in reversed(v)] ;; sum(reversed(v))
""",
    ),
    "__hash__": (
        "return hash(G)",
        r"""
{2: 5, 3: 6}.get(v) ;; v in {2: 1} ;; v in {2} ;; len({2, v}) ;; {v: 1}.get(2) ;; dict([(v, 1)]).get(2) ;;
{2: 5, 3: 6, 9: 1}[v] ;; operator.itemgetter(v)({2: 5, 3: 6}) ;; {2: 5}.get(v, 7) ;; len({2: 1, v: 1}) ;;
len(set([2, v])) ;; v in dict.fromkeys([2]) ;; len({(2,), (v,)})
""",
    ),
}
"""Special method -> its body, which reads the global `G`; and expressions over its object `v`, separated by ``;;``.

A name with a blank at its end is the method of that name in another part.
"""

_INT, _FLOAT, _TEXT = "type('I', (int,), {})(1)", "type('F', (float,), {})(1.5)", "type('T', (str,), {})('a')"

ANSWERS = {
    "__index__": ("1.0", "'a'", "None", "True", _INT, _FLOAT, "NUMBERED", "10**30", "-1"),
    "__float__": ("1", "'a'", "None", "True", _INT, _FLOAT, "NUMBERED", "1j"),
    "__bool__": ("1", "0.5", "None", "'a'", _INT, "NUMBERED", "[]"),
    "__len__": ("1.0", "-1", "'a'", "None", "True", _INT, "NUMBERED", "10**30"),
    "__str__": ("1", "None", "b'a'", _TEXT),
    "__repr__": ("1", "None", "b'a'", _TEXT),
    "__format__": ("1", "None", "b'a'", _TEXT),
    "__iter__": ("1", "None", "[1]", "'a'"),
    "__eq__": ("1", "None", "'a'", "NotImplemented", "[]", "NUMBERED"),
    "__complex__": ("1.0", "1", "None", "'a'"),
    "__bytes__": ("'a'", "1", "None"),
    "__length_hint__": ("-1", "'a'", "1.0", "NotImplemented", "True", "NUMBERED"),
    "__lt__": ("1", "None", "'a'", "NotImplemented", "[]", "NUMBERED"),
    "__mul__": ("NotImplemented", "None"),
    "__rmul__": ("NotImplemented", "None"),
    "__radd__": ("NotImplemented", "None"),
    "__contains__": ("1", "None", "'a'", "[]", "NUMBERED"),
    "__reversed__": ("1", "[1]"),
    "__floor__": ("'a'", "1.5"),
    "__round__": ("'a'", "1.5"),
    "__hash__": ("'a'", "None", "True", _INT, "NUMBERED", "10**30", "-1"),
}
"""Special method -> results that C refuses, converts, or accepts against expectation."""
