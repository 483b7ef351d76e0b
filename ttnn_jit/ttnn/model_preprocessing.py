"""The module `ttnn.model_preprocessing`: parameters of torch modules as ttnn tensors, nested like the modules."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.foreign.torch_tensor import require_torch
from ttnn_jit.process.progress import SHOW_AFTER, with_progress
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.memory.buffer import HOST_POOL
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.tensor_spec import DataType, Layout, MathFidelity
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.models.model_parameters import (
    Conv2dArgs,
    ConvTranspose2dArgs,
    MaxPool2dArgs,
    ModuleArgs,
    ParameterDict,
    ParameterList,
    make_parameter_dict,
)
from ttnn_jit.ttnn.namespace.names_on_demand import host_function_names, submodule_getattr
from ttnn_jit.ttnn.tensors.mesh_mappers import TensorToMesh
from ttnn_jit.ttnn.tensors.torch_conversion import check_torch, from_torch
from ttnn_jit.ttnn.tensors.transfers import to_device

if TYPE_CHECKING:
    import torch

Convert = Callable[["torch.nn.Module", str], bool]
Preprocessor = Callable[..., Mapping[Any, Any] | None]

__all__ = [  # noqa: PLE0604 - the names are the declarations'
    "Conv2dArgs",
    "ConvTranspose2dArgs",
    "MaxPool2dArgs",
    "ModuleArgs",
    "ParameterDict",
    "ParameterList",
    *host_function_names("model_preprocessing"),
]

_DEFAULT_DTYPE = DataType.BFLOAT16
"""The default dtype of converted float parameters."""

# --- One parameter --------------------------------------------------------------------------------------------------


@host_function(name="model_preprocessing.preprocess_linear_weight", observed=False)
def preprocess_linear_weight(
    weight: torch.Tensor,
    *,
    dtype: DataType,
    layout: Layout = Layout.TILE,
    weights_mesh_mapper: TensorToMesh | None = None,
) -> Tensor:
    """The weight of a linear layer as `ttnn.linear` takes it: transposed, on the host.

    Args:
        weight: [outputs, inputs].
        dtype: Element type of the result.
        layout: Layout of the result; TILE when omitted.
        weights_mesh_mapper: Distributes the result over the devices of a mesh.

    Raises:
        ArgumentError, DTypeError: As for `ttnn.from_torch`.
    """
    check_torch(weight, "preprocess_linear_weight")
    return from_torch(weight.T.contiguous(), dtype, layout=layout, mesh_mapper=weights_mesh_mapper)


@host_function(name="model_preprocessing.preprocess_linear_bias", observed=False)
def preprocess_linear_bias(
    bias: torch.Tensor,
    *,
    dtype: DataType,
    layout: Layout = Layout.TILE,
    weights_mesh_mapper: TensorToMesh | None = None,
) -> Tensor:
    """The bias of a linear layer as one row; the arguments are those of `preprocess_linear_weight`."""
    return _as_row(bias, "preprocess_linear_bias", dtype, layout, weights_mesh_mapper)


@host_function(name="model_preprocessing.preprocess_layernorm_parameter", observed=False)
def preprocess_layernorm_parameter(
    parameter: torch.Tensor,
    *,
    dtype: DataType,
    layout: Layout = Layout.TILE,
    weights_mesh_mapper: TensorToMesh | None = None,
) -> Tensor:
    """The weight or bias of a norm as one row; the arguments are those of `preprocess_linear_weight`."""
    return _as_row(parameter, "preprocess_layernorm_parameter", dtype, layout, weights_mesh_mapper)


@host_function(name="model_preprocessing.preprocess_embedding_weight", observed=False)
def preprocess_embedding_weight(
    weight: torch.Tensor,
    *,
    dtype: DataType,
    layout: Layout = Layout.ROW_MAJOR,
    weights_mesh_mapper: TensorToMesh | None = None,
) -> Tensor:
    """The weight of an embedding, by default ROW_MAJOR; the arguments are those of `preprocess_linear_weight`."""
    check_torch(weight, "preprocess_embedding_weight")
    return from_torch(weight, dtype, layout=layout, mesh_mapper=weights_mesh_mapper)


def _as_row(parameter: torch.Tensor, name: str, dtype: DataType, layout: Layout, mapper: TensorToMesh | None) -> Tensor:
    check_torch(parameter, name)
    return from_torch(parameter.reshape((1, -1)), dtype, layout=layout, mesh_mapper=mapper)


@host_function(name="model_preprocessing.fold_batch_norm2d_into_conv2d", observed=False)
def fold_batch_norm2d_into_conv2d(conv: torch.nn.Conv2d, bn: torch.nn.BatchNorm2d) -> tuple[torch.Tensor, torch.Tensor]:
    """Weight and bias of one convolution that is equivalent to `conv` followed by `bn` in evaluation mode.

    Raises:
        ArgumentError: `bn` has no running statistics.
    """
    if bn.running_mean is None or bn.running_var is None:
        raise ArgumentError(
            "fold_batch_norm2d_into_conv2d: the BatchNorm2d keeps no running statistics",
            help="make it with `track_running_stats=True`",
        )
    scale = (bn.running_var + bn.eps).rsqrt()
    scale = scale if bn.weight is None else scale * bn.weight
    shift = -bn.running_mean if conv.bias is None else conv.bias - bn.running_mean
    bias = shift * scale
    return conv.weight * scale[:, None, None, None], bias if bn.bias is None else bias + bn.bias


# --- A model --------------------------------------------------------------------------------------------------------


@host_function(
    name="model_preprocessing.default_preprocessor",
    observed=False,
    without_effect={"the result depends on the module alone": "name ttnn_module_args"},
)
def default_preprocessor(model: torch.nn.Module, name: str, ttnn_module_args: Any) -> ParameterDict:
    """Parameters of a Linear, a LayerNorm or an Embedding in BFLOAT16; an empty dict for other modules."""
    import torch

    dtype = _DEFAULT_DTYPE
    if isinstance(model, torch.nn.Linear):
        bias = {} if model.bias is None else {"bias": preprocess_linear_bias(model.bias, dtype=dtype)}
        return ParameterDict(weight=preprocess_linear_weight(model.weight, dtype=dtype), **bias)
    if isinstance(model, torch.nn.LayerNorm):
        return ParameterDict(
            (key, preprocess_layernorm_parameter(value, dtype=dtype)) for key, value in _own_parameters(model)
        )
    if isinstance(model, torch.nn.Embedding):
        return ParameterDict(weight=preprocess_embedding_weight(model.weight, dtype=dtype))
    return ParameterDict()


@host_function(name="model_preprocessing.convert_torch_model_to_ttnn_model", observed=False)
def convert_torch_model_to_ttnn_model(
    model: torch.nn.Module,
    *,
    convert_to_ttnn: Convert,
    custom_preprocessor: Preprocessor | None = None,
    name: str = "",
    ttnn_module_args: Any = None,
) -> ParameterDict | ParameterList:
    """The parameters of a module and of its children, on the host (ttnn.model_preprocessing).

    Args:
        model: The module.
        convert_to_ttnn: Called with a module and its full name; returns whether its parameters become ttnn tensors.
        custom_preprocessor: Called with a module, its full name and, if it has parameters of these names,
            `ttnn_module_args` and `convert_to_ttnn`; returns the module's parameters, or None for the default.
        name: Full name of the module.
        ttnn_module_args: The result of `infer_ttnn_module_args`.

    Raises:
        ArgumentError: A preprocessor with other parameters; and the errors of `ttnn.from_torch`.
    """
    import torch

    def child_of(key: Any, child: torch.nn.Module) -> Any:
        args = None if ttnn_module_args is None else ttnn_module_args.get(key)
        return convert_torch_model_to_ttnn_model(
            child,
            convert_to_ttnn=convert_to_ttnn,
            custom_preprocessor=custom_preprocessor,
            name=f"{name}.{key}" if name else str(key),
            ttnn_module_args=args,
        )

    if isinstance(model, torch.nn.ModuleList):
        return ParameterList(child_of(index, child) for index, child in enumerate(model.children()))
    if custom_preprocessor is not None:
        own = _preprocessed(custom_preprocessor, model, name, ttnn_module_args, convert_to_ttnn)
        if own:
            return make_parameter_dict(own)
    parameters = _converted(model, name, ttnn_module_args, is_converted=convert_to_ttnn(model, name))
    for child_name, child in model.named_children():
        key = int(child_name) if child_name.isdigit() else child_name
        if converted := child_of(key, child):
            parameters[key] = converted
    return parameters


def _preprocessed(
    preprocessor: Preprocessor, model: torch.nn.Module, name: str, module_args: Any, convert: Convert
) -> Mapping[Any, Any] | None:
    known = {"ttnn_module_args": module_args, "convert_to_ttnn": convert}
    parameters = list(inspect.signature(preprocessor).parameters)
    if len(parameters) < 2 or not set(parameters[2:]) <= set(known):
        raise ArgumentError(
            f"a custom_preprocessor takes (model, name), optionally followed by {' and '.join(known)}; this one "
            f"takes ({', '.join(parameters)})"
        )
    return preprocessor(model, name, **{key: known[key] for key in parameters[2:]})


def _converted(model: torch.nn.Module, name: str, module_args: Any, *, is_converted: bool) -> ParameterDict:
    """The parameters of a module, without those of its children."""
    import torch

    own = dict(_own_parameters(model))
    if is_converted:
        found = default_preprocessor(model, name, module_args)
        return found or ParameterDict((key, _as_ttnn(value)) for key, value in own.items())
    if isinstance(model, torch.nn.Linear):
        own["weight"] = model.weight.T.contiguous()
    return ParameterDict(own)


def _own_parameters(model: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    return model.named_parameters(recurse=False)


def _as_ttnn(parameter: torch.Tensor) -> Tensor:
    return from_torch(parameter, _DEFAULT_DTYPE if parameter.is_floating_point() else None)


_NO_MODEL_CACHE = {"there is no cache of whole models, which ttnn disables by default": "model_name version"}


@host_function(name="model_preprocessing.preprocess_model_parameters", observed=False, without_effect=_NO_MODEL_CACHE)
def preprocess_model_parameters(
    *,
    initialize_model: Callable[[], torch.nn.Module],
    device: Device | None = None,
    custom_preprocessor: Preprocessor | None = None,
    convert_to_ttnn: Convert | None = None,
    model_name: str | None = None,
    version: str | None = None,
    prefix: str = "",
) -> Any:
    """The parameters of a torch model as ttnn tensors (ttnn.model_preprocessing.preprocess_model_parameters).

    Args:
        initialize_model: Returns the model, which is put into evaluation mode.
        device: Device of the tensors; None keeps them on the host.
        custom_preprocessor: See `convert_torch_model_to_ttnn_model`.
        convert_to_ttnn: See `convert_torch_model_to_ttnn_model`; all modules when omitted.
        model_name: Key of ttnn's cache of whole models; ignored.
        version: Key of ttnn's cache of whole models; ignored.
        prefix: Prefix of the modules' names.

    Returns:
        `ParameterDict` and `ParameterList` objects, nested like the modules.

    Raises:
        ArgumentError: An argument has the wrong type; the model may raise errors of its own.
    """
    return preprocess_model(
        initialize_model=initialize_model,
        device=device,
        custom_preprocessor=custom_preprocessor,
        convert_to_ttnn=convert_to_ttnn,
        prefix=prefix,
    )


@host_function(
    name="model_preprocessing.preprocess_model",
    observed=False,
    chip_only="reader_patterns_cache",
    without_effect=_NO_MODEL_CACHE,
)
def preprocess_model(  # noqa: PLR0913 - ttnn's keywords
    *,
    initialize_model: Callable[[], torch.nn.Module],
    device: Device | None = None,
    custom_preprocessor: Preprocessor | None = None,
    convert_to_ttnn: Convert | None = None,
    model_name: str | None = None,
    version: str | None = None,
    prefix: str = "",
    run_model: Callable[[Any], Any] | None = None,
    reader_patterns_cache: dict[Any, Any] | None = None,
) -> Any:
    """`preprocess_model_parameters`, with `ttnn_module_args` of convolutions and pools from a run of the model.

    Args:
        initialize_model: Returns the model, which is put into evaluation mode.
        device: Device of the tensors; None keeps them on the host.
        custom_preprocessor: See `convert_torch_model_to_ttnn_model`.
        convert_to_ttnn: See `convert_torch_model_to_ttnn_model`; all modules when omitted.
        model_name: Key of ttnn's cache of whole models; ignored.
        version: Key of ttnn's cache of whole models; ignored.
        prefix: Prefix of the modules' names.
        run_model: Called with the model, and runs it once, so that the input shapes of its modules are known.
        reader_patterns_cache: Cache of a chip's convolutions; ignored.

    Raises:
        ArgumentError: An argument has the wrong type.
    """
    require_torch("preprocess_model", "make the tensors by `ttnn.full` and its kin")
    import torch

    model = initialize_model() if callable(initialize_model) else initialize_model
    if not isinstance(model, torch.nn.Module):
        raise ArgumentError(f"`initialize_model` must return a torch.nn.Module, got {type_name(model)}")
    model.eval()
    module_args = infer_ttnn_module_args(model=model, run_model=run_model, device=device)
    count = sum(1 for _ in model.modules())
    progress = with_progress(range(count), count, "converting modules", after=SHOW_AFTER)

    def convert(module: torch.nn.Module, name: str) -> bool:
        next(progress, None)
        return convert_to_ttnn is None or convert_to_ttnn(module, name)

    parameters = convert_torch_model_to_ttnn_model(
        model,
        convert_to_ttnn=convert,
        custom_preprocessor=custom_preprocessor,
        name=prefix,
        ttnn_module_args=module_args,
    )
    deque(progress, 0)
    if module_args is not None:
        _merge_module_args(parameters, module_args)
    if device is not None:
        _move_in_place(parameters, device)
        HOST_POOL.release_idle()
    return parameters


def _move_in_place(parameters: ParameterDict | ParameterList, device: Device) -> None:
    """`move_to_device` in place: each host tensor is freed before the next is copied, to limit peak memory."""
    for key, value in parameters.items() if isinstance(parameters, ParameterDict) else enumerate(parameters):
        if isinstance(value, ParameterDict | ParameterList):
            _move_in_place(value, device)
        elif isinstance(value, Tensor):
            parameters[key] = to_device(value, device)


@host_function(name="model_preprocessing.move_to_device", observed=False)
def move_to_device(parameters: Any, device: Device) -> Any:
    """Nested parameters with their ttnn tensors on a device; other values are unchanged."""
    if isinstance(parameters, ParameterList):
        return ParameterList(move_to_device(each, device) for each in parameters)
    if isinstance(parameters, ParameterDict):
        return ParameterDict((key, move_to_device(value, device)) for key, value in parameters.items())
    return to_device(parameters, device) if isinstance(parameters, Tensor) else parameters


# --- Arguments of modules -------------------------------------------------------------------------------------------


@host_function(name="model_preprocessing.infer_ttnn_module_args", observed=False)
def infer_ttnn_module_args(
    *, model: torch.nn.Module, run_model: Callable[[Any], Any] | None, device: Device | None = None
) -> ParameterDict | None:
    """The settings and input sizes of each convolution and pool of a model, nested like the modules.

    Args:
        model: The model.
        run_model: Called with the model, and runs it once; without it the result is None.
        device: Stored in the arguments of convolutions.
    """
    if run_model is None:
        return None
    import torch

    found: dict[str, ModuleArgs] = {}

    def hook_of(name: str) -> Callable[..., None]:
        def hook(module: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
            if (args := _args_of(module, inputs[0].shape, device)) is not None:
                found[name] = args

        return hook

    hooks = [module.register_forward_pre_hook(hook_of(name)) for name, module in model.named_modules()]
    try:
        with torch.no_grad():
            run_model(model)
    finally:
        for hook in hooks:
            hook.remove()
    return _nested_by_name(found)


def _nested_by_name(found: Mapping[str, ModuleArgs]) -> ParameterDict:
    nest = ParameterDict()
    for name, args in found.items():
        *outer, last = (int(part) if part.isdigit() else part for part in name.split("."))
        inner = nest
        for part in outer:
            inner = inner.setdefault(part, ParameterDict())
        inner[last] = args
    return nest


_WINDOW_FIELDS = ("kernel_size", "stride", "padding", "dilation")
_CONVOLUTION_FIELDS = ("in_channels", "out_channels", *_WINDOW_FIELDS, "groups", "padding_mode")


def _args_of(module: torch.nn.Module, shape: torch.Size, device: Device | None) -> ModuleArgs | None:
    import torch

    kinds: tuple[tuple[type, type[ModuleArgs], tuple[str, ...]], ...] = (
        (torch.nn.Conv2d, Conv2dArgs, _CONVOLUTION_FIELDS),
        (torch.nn.ConvTranspose2d, ConvTranspose2dArgs, (*_CONVOLUTION_FIELDS, "output_padding")),
        (torch.nn.MaxPool2d, MaxPool2dArgs, _WINDOW_FIELDS),
    )
    for kind, args, names in kinds:
        if isinstance(module, kind):
            run_on = {"batch_size": shape[0], "input_height": shape[-2], "input_width": shape[-1]}
            of_kernel = {} if args is MaxPool2dArgs else _kernel_settings(device)
            return args(
                {name: getattr(module, name) for name in names} | run_on | of_kernel | {"dtype": _DEFAULT_DTYPE}
            )
    return None


def _kernel_settings(device: Device | None) -> dict[str, Any]:
    return {
        "math_fidelity": MathFidelity.HiFi4,
        "weights_dtype": _DEFAULT_DTYPE,
        "use_1d_systolic_array": True,
        "enable_auto_formatting": False,
        "conv_blocking_and_parallelization_config_override": {},
        "device": device,
    }


def _merge_module_args(parameters: Any, module_args: Any) -> None:
    """Store the arguments of every module in its parameters, as `ttnn_module_args`."""
    if isinstance(module_args, ModuleArgs):
        parameters["ttnn_module_args"] = type(module_args)({k: v for k, v in module_args.items() if k != "device"})
        return
    for key, args in module_args.items():
        if key in parameters:
            _merge_module_args(parameters[key], args)


__getattr__ = submodule_getattr("model_preprocessing", __all__)
