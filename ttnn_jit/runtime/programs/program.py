"""A compiled program, which calls run, caches keep, `compile_only` returns and files hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ttnn_jit.diagnostics.errors import ArgumentError, InternalError, ProgramFormatError, TtnnJitError
from ttnn_jit.diagnostics.tracebacks import keep_user_frames
from ttnn_jit.events.listeners import LISTENERS
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.compile_lock import compiling
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.libraries import MESH, TTNN
from ttnn_jit.runtime.memory import l1
from ttnn_jit.runtime.memory.buffer import HOST_POOL, Buffer
from ttnn_jit.runtime.native import native_call
from ttnn_jit.runtime.native.generated import MISS
from ttnn_jit.runtime.native.image import Image
from ttnn_jit.runtime.native.native import HostCpu, host_cpu, require_runnable
from ttnn_jit.runtime.native.native_call import NO_PANELS, NativeCalls
from ttnn_jit.runtime.native.panels import Factor, PanelLayout, factors_of
from ttnn_jit.runtime.plans import program_format
from ttnn_jit.runtime.plans.descriptor import ProgramDescriptor
from ttnn_jit.runtime.plans.launch_bounds import Signature, signature_of
from ttnn_jit.runtime.plans.launches import Launch, Repeat
from ttnn_jit.runtime.plans.plan import ProgramPlan
from ttnn_jit.runtime.plans.rank_exchanges import parts_of_launches
from ttnn_jit.runtime.programs import caller
from ttnn_jit.runtime.programs.run_log import record_load, run_recorder
from ttnn_jit.runtime.programs.warm_caller import warm_caller
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.meshes.tensor_topology import TensorTopology, sharded_on, topology_from_json
from ttnn_jit.specs.tensor_spec import TensorSpec

if TYPE_CHECKING:
    from ttnn_jit.runtime.ranks.mesh_ranks import MeshRanks

__all__ = ["Launch", "Program", "ProgramPlan", "Repeat"]

R = TypeVar("R")


class Program:
    """Native kernels and the plan that launches them. Calls are safe from many threads at once.

    Args:
        plan: Buffers and launches.
        objects: Object code of every kernel of the plan, and of functions that they call, by symbol.
        descriptors: Per kernel launch, the fields of a `ProgramDescriptor`, JSON values; or a function that makes them.
        texts: The kept IR texts, by stage.
        notes: JSON values that the compiler stores with the program.
        built_for: The processor of the object code; None means this host's.
        circular_buffer_bytes: The property of that name, if it is known.

    Attributes:
        plan: As given.
        objects: As given.
        texts: As given.
        notes: As given.
    """

    def __init__(
        self,
        plan: ProgramPlan,
        objects: Mapping[str, bytes],
        *,
        descriptors: Sequence[Mapping[str, Any]] | Callable[[], Sequence[Mapping[str, Any]]] = (),
        texts: Mapping[str, str] | None = None,
        notes: Mapping[str, Any] | None = None,
        built_for: HostCpu | None = None,
        circular_buffer_bytes: int | None = None,
    ) -> None:
        missing = [kernel for kernel in plan.kernels if kernel not in objects]
        if missing:
            raise InternalError(f"program {plan.name} has no object code for {', '.join(missing)}")
        self.plan = plan
        self.objects = dict(objects)
        self._make_descriptors = descriptors if callable(descriptors) else lambda: descriptors
        self.texts = dict(texts or {})
        self.notes: Mapping[str, Any] = dict(notes or {})
        self._built_for = built_for
        self._ran = False
        self._in_panels: dict[tuple[int, bool], NativeCalls] = {}
        self._base: Program | None = None
        if circular_buffer_bytes is not None:
            vars(self)["circular_buffer_bytes"] = circular_buffer_bytes

    def __call__(self, *tensors: Tensor) -> Any:
        """Run on tensors of the plan's specs; results are on the device of the first tensor.

        Returns:
            The result, or a tuple if the function returns several.

        Raises:
            ArgumentError: A tensor has another spec, is on the host, or on a device of another target.
            DeallocatedError: A tensor was deallocated.
            DeviceError: The device is closed.
        """
        try:
            if self.plan.devices is not None:
                return MESH.run(self, *tensors)
            if self._ran and not LISTENERS and self.plan.has_warm_calls and len(tensors) == len(self.plan.inputs) > 0:
                result = self._warm(*tensors)
                if result is not MISS:
                    return result
            self._ran = True
            return self._recorded(caller.run_on_tensors, self, tensors)
        except TtnnJitError as error:
            keep_user_frames(error)
            raise

    def run_into(self, output: Tensor, *tensors: Tensor) -> Tensor:
        """Run on tensors of the plan's specs, and write the single result to `output`, which has its spec.

        Raises:
            As a call.
        """
        result: Tensor = self._recorded(caller.run_on_tensors, self, tensors, output)
        return result

    def run_on(
        self, devices: Sequence[Device], tensors: Sequence[Tensor], ranks: MeshRanks | None = None
    ) -> Sequence[Any]:
        """Run a mesh's program on the inputs of its devices, which `ranks` share; returns the plan's results.

        Raises:
            As a call.
        """
        return self._recorded(caller.run_on_devices, self, devices, tensors, None, ranks)

    @cached_property
    def topologies(self) -> tuple[TensorTopology | None, ...]:
        """Of a mesh's program, the placement of each tensor that the function returns; None: of the whole mesh."""
        devices = self.plan.devices
        noted = self.notes.get("topologies")
        if devices is None:
            return ()
        if noted is None:  # of a text, which states no placements
            own = sharded_on(devices.shape, 0).on(devices.coordinates)
            return (own,) * len(self.plan.returned)
        return tuple(each and topology_from_json(each, devices.coordinates) for each in noted)

    @cached_property
    def _warm(self) -> Callable[..., Any]:
        # Made by the second call: generating it takes longer than a run without it.
        with compiling():
            several = None if len(self.plan.results) == 1 else tuple
            return warm_caller(self, TTNN, rebuild=several)

    def run(self, *addresses: int) -> None:
        """Run on memory of the plan's specs that outlives the call; intermediates come from the pool.

        The new value of an updated input is an output; the input itself is not changed.

        Args:
            *addresses: Addresses of inputs, then outputs; those of outputs of 1 MB and more are multiples of 64.

        Raises:
            ArgumentError: The number of addresses or one of them is wrong, or the program exchanges with other ranks.
        """
        if self.plan.exchanges:
            raise ArgumentError(f"{self.name} exchanges with other ranks: call it with tensors of a mesh")
        (native,) = self.native
        self._recorded(caller.run_on_addresses, self.plan, native, addresses)

    def _recorded(self, run: Callable[..., R], *args: Any) -> R:
        """``run(*args)``, a run of this program, with its lines in the log and its event."""
        record = run_recorder(self)
        if record is not None:
            _ = self.native  # the log has the load before the run
            record()
        if not LISTENERS:
            return run(*args)
        from ttnn_jit.runtime.programs.launch_events import launched

        return launched(self.plan, run, *args)

    @property
    def name(self) -> str:
        """Name of the compiled function."""
        return self.plan.name

    @property
    def hash(self) -> str:
        """SHA-256 of the plan. Kernel names are content hashes, so equal programs have equal hashes on any host."""
        return self.plan.hash

    @cached_property
    def _described(self) -> tuple[dict[str, Any], ...]:
        return tuple(map(dict, self._make_descriptors()))

    @cached_property
    def descriptors(self) -> tuple[ProgramDescriptor, ...]:
        """The ttnn program descriptor of each kernel launch; its `custom_program_hash` is `hash`."""
        return tuple(ProgramDescriptor({**fields, "custom_program_hash": self.hash}) for fields in self._described)

    @cached_property
    def circular_buffer_bytes(self) -> int:
        """L1 bytes of a core that circular buffers take during a run, excluding those that alias shards."""
        return max(map(l1.circular_buffer_bytes, self._described), default=0)

    @property
    def built_for(self) -> HostCpu:
        """The processor that the object code was built for."""
        return self._built_for or host_cpu()

    def allocate_outputs(self) -> tuple[Buffer, ...]:
        """Memory for every output, for `run`, whose last arguments are their addresses."""
        return tuple(HOST_POOL.allocate(spec.nbytes) for spec in self.plan.outputs)

    def ir(self, stage: str) -> str:
        """The IR text after `stage`.

        Raises:
            ArgumentError: The program does not have that text.
        """
        if stage not in self.texts:
            kept = ", ".join(self.texts) or "none; programs from `compile_only=True` keep theirs"
            raise ArgumentError(f"program {self.name} has no text of stage {stage!r}", help=f"its stages: {kept}")
        return self.texts[stage]

    def to_bytes(self) -> bytes:
        """The program as bytes; see program_format.py."""
        header = {
            "plan": self.plan.to_json(),
            "descriptors": self._described,
            "texts": self.texts,
            "notes": self.notes,
            "built_for": asdict(self.built_for),
        }
        return program_format.pack(header, self.objects)

    @staticmethod
    def from_bytes(data: bytes) -> Program:
        """The inverse of `to_bytes`. The first call loads the native code.

        Raises:
            ProgramFormatError: Not a program, of another version, or damaged.
        """
        header, objects = program_format.unpack(data)
        try:
            program = Program(
                ProgramPlan.from_json(header["plan"]),
                objects,
                descriptors=header["descriptors"],
                texts=header["texts"],
                notes=header["notes"],
                built_for=_host_from_json(header["built_for"]),
            )
            program._check()
            return program
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError, TtnnJitError) as error:
            raise ProgramFormatError(f"the program's header does not describe a program: {error!r}") from error

    @staticmethod
    def if_sound(data: bytes, inputs: Sequence[TensorSpec]) -> Program | None:
        """The program in bytes of a cache; None if it is damaged or has other input specs."""
        try:
            program = Program.from_bytes(data)
        except ProgramFormatError:
            return None
        return program if program.plan.argument_specs == tuple(inputs) else None

    def _check(self) -> None:
        """Refuse malformed descriptors, and kernels whose signatures do not match the plan's launches."""
        _ = self.circular_buffer_bytes
        is_empty = not self.plan.launches and not self.plan.exchanges
        if is_empty and len(self.plan.buffers) > len(self.plan.inputs):
            raise InternalError("no launch writes the results")
        made_for = {symbol: _signature_in(symbol, code) for symbol, code in self.objects.items()}
        for launch, signature in zip(self.plan.each_launch, self._signatures, strict=True):
            if signature.to_json() != made_for[launch.kernel]:
                raise InternalError(f"{launch.kernel} was made for {made_for[launch.kernel]}")

    @cached_property
    def _signatures(self) -> Sequence[Signature]:
        """The signature of every launch."""
        return [signature_of(launch, self.plan.operands) for launch in self.plan.each_launch]

    def resized(
        self,
        plan: ProgramPlan,
        descriptors: Callable[[], Sequence[Mapping[str, Any]]],
        circular_buffer_bytes: int | None = None,
    ) -> Program:
        """The program with this one's code for a plan that differs from its own in sizes alone.

        Args:
            plan: The plan.
            descriptors: Makes the descriptors.
            circular_buffer_bytes: The property of that name, if it is known.

        Raises:
            InternalError: A kernel was not made for its launch.
        """
        program = object.__new__(Program)
        vars(program).update(
            plan=plan,
            objects=self.objects,
            _make_descriptors=descriptors,
            texts=self.texts,
            notes=self.notes,
            _built_for=self._built_for,
            _ran=False,
            _in_panels={},
            _base=None,
        )
        if circular_buffer_bytes is not None:
            vars(program)["circular_buffer_bytes"] = circular_buffer_bytes
        if plan.launches is self.plan.launches:  # then it differs in constants alone
            vars(program).update(_base=self)
            return program
        # Operands have the types that they have here, so that the params of a launch decide.
        pairs = zip(plan.each_launch, self._signatures, strict=True)
        for launch, signature in {(each.kernel, each.params): (each, own) for each, own in pairs}.values():
            if signature_of(launch, plan.operands) != signature:
                raise InternalError(f"{launch.kernel} was made for {signature}")
        return program

    def save(self, path: Path | str) -> None:
        """Write the program to a file atomically."""
        from ttnn_jit.process.complete_file import write_complete

        write_complete(Path(path), [self.to_bytes()])

    @staticmethod
    def load(path: Path | str) -> Program:
        """Read a file that `save` wrote. It holds machine code: load only files that you would run.

        Raises:
            ProgramFormatError: Not a program, of another version, or damaged.
        """
        return Program.from_bytes(Path(path).read_bytes())

    @cached_property
    def native(self) -> NativeCalls:
        """The loaded kernels: a call before each exchange with other ranks, and one after the last.

        The first call loads them, because a program may be made only to be saved or inspected.

        Raises:
            ProgramFormatError: The processor lacks a feature that the code was built for.
        """
        if self.plan.launches and self._built_for is not None:
            require_runnable(self._built_for, self.name)
        record_load(self)
        if self._base is None or not self.plan.constants:
            return self._linked
        bits = [each.bits for each in self.plan.constants]
        return tuple(each and each.with_constants(bits) for each in self._base._linked)

    @cached_property
    def _linked(self) -> NativeCalls:
        return self._link()

    def _link(self, without: Sequence[int] = (), in_panels: Mapping[int, PanelLayout] = NO_PANELS) -> NativeCalls:
        plan = self.plan
        return tuple(
            native_call.link(plan, self.objects, part=part, without=without, in_panels=in_panels)
            for part in parts_of_launches(plan.exchanges, len(plan.launches))
        )

    @cached_property
    def native_in_place(self) -> NativeCalls:
        """The kernels for runs that make new values of inputs in place; launches that copy these inputs are omitted."""
        native = self.native
        return self._link(self.plan.copies) if self.plan.copies else native

    @cached_property
    def factors(self) -> Mapping[int, Factor]:
        """The inputs that may be in panels."""
        return factors_of(self.plan)

    def native_for(self, mask: int, *, in_place: bool) -> NativeCalls:
        """The kernels for runs in which the inputs of `mask` are in panels, in place as for `native_in_place`."""
        if not mask:
            return self.native_in_place if in_place else self.native
        found = self._in_panels.get((mask, in_place))
        if found is None:
            layouts = {index: factor.layout for index, factor in self.factors.items() if factor.bit & mask}
            found = self._link(self.plan.copies if in_place else (), layouts)
            self._in_panels[mask, in_place] = found
        return found

    def __repr__(self) -> str:
        return f"<Program {self.name}: kernels={len(self.plan.kernels)}, launches={self.plan.runs}>"


def _signature_in(symbol: str, code: bytes) -> Any:
    image = Image.read(code)
    if symbol not in image.functions:
        raise InternalError(f"native code of {symbol} does not define it")
    return image.signature


def _host_from_json(fields: Any) -> HostCpu:
    if not all(isinstance(value, str) for value in fields.values()):
        raise TypeError(f"expected texts, got {fields!r}")
    return HostCpu(**fields)
