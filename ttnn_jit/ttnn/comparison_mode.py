"""Comparison mode: every operation beside its golden in float64, while `ttnn.CONFIG.enable_comparison_mode` is on.

*Locally* the golden gets what the operation got; *globally* it gets what the goldens before it gave, so that errors add
up. A jitted function is run again operation by operation, each beside its golden, and its result beside that run's.
"""

from __future__ import annotations

import json
import math
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from html import escape
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.diagnostics.tracebacks import level_of_the_user, place_of_the_user
from ttnn_jit.dispatch.observers import Observer, name_of, telling_only
from ttnn_jit.foreign.pytrees import leaves, map_leaves
from ttnn_jit.process.complete_file import write_complete
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.random_state import drawing_from, next_draw
from ttnn_jit.runtime.tensor import Tensor
from ttnn_jit.ttnn.comparison import pearson_correlation_coefficient, ulp_distance
from ttnn_jit.ttnn.mesh import MeshTensor

if TYPE_CHECKING:
    import torch


class ComparisonError(TtnnJitError, RuntimeError):
    """An operation is further from its golden than `ttnn.CONFIG.comparison_mode_pcc` (a RuntimeError in ttnn)."""


class ComparisonWarning(UserWarning):
    """An operation is further from its golden than it may be, or was not compared."""


@dataclass(frozen=True)
class ComparisonRecord:
    """One tensor that an operation gave, beside its golden.

    Attributes:
        number: Of the call, counted from the beginning of the mode.
        operation: Its name.
        level: ``"locally"``, ``"globally"``, or ``"jitted"`` of a jitted function beside its operations one by one.
        output: Which of the tensors that it gave.
        pcc: Correlation; None where nothing was compared.
        max_ulp: The largest distance, in units in the last place of the result's type; None of block floats, each block
            of which has its own.
        differing_nans: How many elements are NaN in one of the two alone.
        matches: Whether the correlation is what is asked for, and NaN and infinities are where the golden has them.
        place: The user's line.
        note: Why nothing was compared, or empty.
        first_nan: The index of the first element that is NaN in one of the two alone; None if there is none.
        allclose: `torch.allclose` by the tolerances that `torch.testing` has for the type, NaN close to NaN, integers
            equal; None of block floats, and where nothing was compared.
    """

    number: int
    operation: str
    level: str
    output: int
    pcc: float | None
    max_ulp: float | None
    differing_nans: int
    matches: bool
    place: str
    note: str = ""
    first_nan: tuple[int, ...] | None = None
    allclose: bool | None = None


class Comparison(NamedTuple):
    """A tensor beside its golden.

    Attributes:
        tensor: What an operation gave.
        golden: In float64, or the integers.
        in_chain: Whether the golden is one of goldens.
        matches: Whether they are alike.
        wanted_pcc: The correlation that is asked for.
        pcc: The correlation that they have.
    """

    tensor: Tensor
    golden: torch.Tensor
    in_chain: bool
    matches: bool
    wanted_pcc: float
    pcc: float


@dataclass(frozen=True)
class _Call:
    """A call that runs: its arguments in torch, as they were before it, in two chains.

    For a second run there are copies of them, and the number of the next draw of random elements.
    """

    local: tuple[Sequence[Any], Mapping[str, Any]]
    chained: tuple[Sequence[Any], Mapping[str, Any]]
    again: tuple[Sequence[Any], Mapping[str, Any]] | None
    draw: int


class ComparisonMode(Observer):
    """Compares calls, and keeps what it found.

    Args:
        wanted_pcc: The correlation that is asked for, at any time.
        raises: Whether one that is lower is an error, at any time.
        tell: Gets every comparison of a tensor.
    """

    def __init__(
        self, wanted_pcc: Callable[[], float], raises: Callable[[], bool], tell: Callable[[Comparison], None]
    ) -> None:
        self._tell = tell
        self.records: list[ComparisonRecord] = []
        self._wanted_pcc = wanted_pcc
        self._raises = raises
        self._of_thread = threading.local()
        self._numbers = 0
        self._goldens: dict[int, tuple[weakref.ref[Tensor], torch.Tensor]] = {}

    @property
    def _calls(self) -> list[_Call | None]:
        """Those that run on this thread, the innermost last."""
        calls: list[_Call | None] = vars(self._of_thread).setdefault("calls", [])
        return calls

    def before(self, operation: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """Keep what the operation gets: it may write into it."""
        if self.looks_inside(operation) or _why_unseen([*args, *kwargs.values()]):
            self._calls.append(None)
            return
        jitted = hasattr(operation, "__ttnn_jit_wrapped__")
        self._calls.append(
            _Call(
                _mapped(_as_golden, args, kwargs),
                _mapped(self._golden, args, kwargs),
                _mapped(_copied, args, kwargs) if jitted else None,
                next_draw(),
            )
        )

    def looks_inside(self, operation: Any) -> bool:
        """Whether it is a function of the host API, which has no golden, but is made of operations that have."""
        return not hasattr(operation, "golden_function") and not hasattr(operation, "__ttnn_jit_wrapped__")

    def failed(self, operation: Any, error: BaseException) -> None:  # noqa: ARG002 - an operation that failed gave nothing
        """Forget the call."""
        self._calls.pop()

    def after(self, operation: Any, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
        """Compare what it gave."""
        call, number = self._calls.pop(), self._numbers
        self._numbers += 1
        tensors = [leaf for leaf in leaves(result) if isinstance(leaf, Tensor)]
        if call is None:
            self._carry(operation, [*args, *kwargs.values()], tensors, number)
        elif call.again is not None:
            self._step(operation, call.again, call.draw, tensors, number)
        else:
            self._compare(operation, call, tensors, number)

    def _carry(self, operation: Any, sources: Sequence[Any], tensors: list[Tensor], number: int) -> None:
        """A function that moves a tensor moves its golden; an operation comes here whose numbers cannot be seen.

        What the operations inside a function gave has a golden of its own.
        """
        if not self.looks_inside(operation) and (why := _why_unseen([*sources, *tensors])):
            self._note(operation, number, why)
            return
        if len(tensors) == 1 and sources and isinstance(sources[0], Tensor) and self._known(tensors[0]) is None:
            golden = self._known(sources[0])
            if golden is not None and golden.shape == tuple(tensors[0].shape):
                self._keep(tensors[0], golden)

    def _compare(self, operation: Any, call: _Call, tensors: list[Tensor], number: int) -> None:
        self._forget(tensors)
        for level, (args, kwargs) in (("locally", call.local), ("globally", call.chained)):
            try:
                goldens = leaves(operation.golden_function(*args, **kwargs))
            except Exception as error:  # noqa: BLE001 - a golden is torch's and the user's code: what it raises is told
                self._note(operation, number, f"its golden failed {level}: {type(error).__name__}: {error}")
                continue
            for output, (tensor, golden) in enumerate(zip_longest(tensors, goldens)):
                if tensor is None or golden is None:
                    given = sum(each is not None for each in goldens)
                    self._note(operation, number, f"{len(tensors)} tensors of results, {given} of its golden")
                    break
                if level == "globally":
                    self._keep(tensor, golden)
                self._record(operation, number, level, output, tensor, golden)

    def _step(self, operation: Any, again: tuple[Any, Any], draw: int, tensors: list[Tensor], number: int) -> None:
        """Run a jitted function again, an operation at a time, with the random elements that it drew."""
        args, kwargs = again
        try:
            with telling_only(self), drawing_from(draw):
                stepped = operation.__ttnn_jit_wrapped__(*args, **kwargs)
        except ComparisonError:
            raise
        except TtnnJitError as error:
            self._note(operation, number, f"it does not run one operation after the other: {error.message}")
            return
        for output, (tensor, other) in enumerate(zip(tensors, leaves(stepped), strict=False)):
            golden = self._known(other)
            if golden is not None:
                self._keep(tensor, golden)
            self._record(operation, number, "jitted", output, tensor, _as_golden(other))

    def _record(
        self, operation: Any, number: int, level: str, output: int, tensor: Tensor, golden: torch.Tensor
    ) -> None:
        place, name = str(place_of_the_user()), name_of(operation)
        got = tensor.to_torch()
        if got.shape != golden.shape:
            self._note(operation, number, f"its result has shape {list(got.shape)}, its golden {list(golden.shape)}")
            return
        pcc = pearson_correlation_coefficient(golden.double(), got)
        ulp = None if tensor.dtype.is_block_float else float(ulp_distance(got, golden).max()) if got.numel() else 0.0
        differing = (got.isnan() != golden.isnan()).nonzero()
        nans, first = len(differing), tuple(differing[0].tolist()) if len(differing) else None
        wanted = self._wanted_pcc()
        matches = pcc >= wanted and not nans and ulp != math.inf
        found = (pcc, ulp, nans, matches, place)
        self._tell(Comparison(tensor, golden, level == "globally", matches, wanted, pcc))
        self.records.append(
            ComparisonRecord(
                number, name, level, output, *found, first_nan=first, allclose=_allclose(tensor, got, golden)
            )
        )
        if not matches:
            worst = "" if ulp is None else f"the worst element is {ulp:.6g} ulp off, "
            less = f", less than {wanted:g}" if pcc < wanted else ""
            self._complain(
                f"{name}: {level} the correlation of output {output} with its golden is {pcc:.6g}{less}; "
                f"{worst}{nans} are NaN in one of them" + (f", the first at {list(first)}" if first else "")
            )

    def _note(self, operation: Any, number: int, note: str) -> None:
        """Say that something was not compared."""
        name = name_of(operation)
        record = ComparisonRecord(number, name, "locally", 0, None, None, 0, False, str(place_of_the_user()), note)
        self.records.append(record)
        warnings.warn(f"{name} was not compared: {note}", ComparisonWarning, stacklevel=level_of_the_user())

    def _complain(self, text: str) -> None:
        if self._raises():
            raise ComparisonError(text, location=place_of_the_user())
        warnings.warn(text, ComparisonWarning, stacklevel=level_of_the_user())

    # --- The chain of goldens -----------------------------------------------------------------------------------------

    def _known(self, tensor: Any) -> torch.Tensor | None:
        reference, golden = self._goldens.get(id(tensor), (None, None))
        return golden if reference is not None and reference() is tensor else None

    def _golden(self, tensor: Tensor) -> Any:
        known = self._known(tensor)
        return _as_golden(tensor) if known is None else known

    def _keep(self, tensor: Tensor, golden: torch.Tensor) -> None:
        number = id(tensor)
        self._goldens[number] = weakref.ref(tensor, lambda _: self._goldens.pop(number, None)), golden

    def _forget(self, tensors: Sequence[Tensor]) -> None:
        """An operation gave these: what was written in place has no longer the golden of before."""
        for tensor in tensors:
            self._goldens.pop(id(tensor), None)

    # --- The report ---------------------------------------------------------------------------------------------------

    def write_report(self, folder: Path) -> None:
        """``comparison.json``, and ``comparison.html`` with the first bad operation on top."""
        folder.mkdir(parents=True, exist_ok=True)
        rows = [{name: _in_json(value) for name, value in asdict(record).items()} for record in self.records]
        write_complete(folder / "comparison.json", [json.dumps(rows, indent=2).encode()])
        write_complete(folder / "comparison.html", ["\n".join(_html(self.records)).encode()])


def _mapped(
    change: Callable[[Tensor], Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    def changed(leaf: Any) -> Any:
        return change(leaf) if isinstance(leaf, Tensor) else leaf

    return [map_leaves(value, changed) for value in args], {k: map_leaves(v, changed) for k, v in kwargs.items()}


def _as_golden(tensor: Tensor) -> torch.Tensor:
    """What a golden computes with: float64 of floats, else the integers."""
    values = tensor.to_torch()
    return values.double() if values.is_floating_point() else values


def _copied(tensor: Tensor) -> Tensor:
    import copy

    return copy.deepcopy(tensor)


def _why_unseen(values: Sequence[Any]) -> str:
    """Why the elements of a tensor among these cannot be looked at; empty if they can."""
    for tensor in (leaf for leaf in leaves(list(values)) if isinstance(leaf, Tensor)):
        if isinstance(tensor, MeshTensor):
            return "it runs on every device of a mesh"
        device = tensor.device()
        if device is not None and device.recorder is not None:
            return "it is captured in a trace, and runs later"
    return ""


def _allclose(tensor: Tensor, got: torch.Tensor, golden: torch.Tensor) -> bool | None:
    import torch

    if tensor.dtype.is_block_float:
        return None
    if not got.is_floating_point():
        return torch.equal(got.to(golden.dtype), golden)
    rtol = {torch.bfloat16: 1.6e-2, torch.float32: 1.3e-6}[got.dtype]
    return torch.allclose(got.double(), golden.double(), rtol=rtol, atol=1e-5, equal_nan=True)


_COLUMNS = (
    "number", "operation", "level", "output", "pcc", "max_ulp", "allclose", "differing_nans", "first_nan", "place",
    "note",
)  # fmt: skip
_LONG = ("place", "note")

_STYLE = """\
body{font-family:sans-serif;margin:1rem}
table{border-collapse:collapse;font-size:.9rem}
td,th{padding:2px 8px;text-align:left;vertical-align:top;border-bottom:1px solid #ddd;white-space:nowrap}
th{position:sticky;top:0;background:#fff}
.number{text-align:right;font-variant-numeric:tabular-nums}
.long{white-space:normal;overflow-wrap:anywhere;min-width:12rem}
.bad{background:#fdd}"""
"""Long places and notes are broken, so that the table is little wider than its numbers."""

_LEGEND = (
    "locally: beside the golden of what the operation got; globally: beside a chain of goldens from the first on; "
    "jitted: a jitted function beside its operations one by one. max_ulp: the worst distance, in units in the last "
    "place of the result; differing_nans: elements that are NaN in one of the two alone, the first at first_nan."
)


def _html(records: Sequence[ComparisonRecord]) -> Iterator[str]:
    bad = [record for record in records if not record.matches]
    yield "<!DOCTYPE html><meta charset='utf-8'><title>Comparison with goldens</title>"
    yield f"<style>{_STYLE}</style>"
    yield f"<h1>{len(bad)} of {len(records)} comparisons are not as asked for</h1>"
    yield f"<p>{_LEGEND}</p>"
    if bad:
        yield from _table("The first of them", bad[:1])
    yield from _table("All", records)


def _table(title: str, records: Sequence[ComparisonRecord]) -> Iterator[str]:
    yield f"<h2>{title}</h2><table><tr>{''.join(f'<th>{column}</th>' for column in _COLUMNS)}</tr>"
    for record in records:
        cells = "".join(_cell(column, getattr(record, column)) for column in _COLUMNS)
        yield f"<tr{'' if record.matches else ' class=bad'}>{cells}</tr>"
    yield "</table>"


def _in_json(value: Any) -> Any:
    """Infinities and NaN as text: JSON has none."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _cell(column: str, value: object) -> str:
    """Numbers to eight digits, to the right; what there is none of, empty. The JSON has every digit."""
    match value:
        case bool():
            return f"<td>{'yes' if value else 'no'}</td>"
        case int() | float():
            return f"<td class=number>{value:.8g}</td>"
        case None:
            return "<td></td>"
        case _:
            return f"<td{' class=long' if column in _LONG else ''}>{escape(str(value))}</td>"
