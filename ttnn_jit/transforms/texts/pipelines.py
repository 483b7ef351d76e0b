"""Pipelines over texts: passes in order, as tt-mlir has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ttnn_jit.diagnostics.errors import ArgumentError, RefusalError
from ttnn_jit.transforms.texts.passes.canonicalize_texts import CanonicalizeText
from ttnn_jit.transforms.texts.passes.const_eval_hoist_transform import ConstEvalHoistTransform
from ttnn_jit.transforms.texts.passes.inline_texts import InlineText
from ttnn_jit.transforms.texts.passes.remove_dead_values import RemoveDeadValues
from ttnn_jit.transforms.texts.passes.tt_populate_argument_types import TTPopulateArgumentTypes
from ttnn_jit.transforms.texts.passes.ttcore_register_device_texts import TTCoreRegisterDeviceText
from ttnn_jit.transforms.texts.passes.ttcore_wrap_device_module import TTCoreWrapDeviceModule
from ttnn_jit.transforms.texts.passes.ttir_element_type_normalization import TTIRElementTypeNormalization
from ttnn_jit.transforms.texts.passes.ttir_erase_inverse_ops import TTIREraseInverseOps
from ttnn_jit.transforms.texts.passes.ttir_explicate_tms import TTIRExplicateTMs
from ttnn_jit.transforms.texts.passes.ttir_flatten_sliding_window import TTIRFlattenSlidingWindow
from ttnn_jit.transforms.texts.passes.ttir_fusing import TTIRFusing
from ttnn_jit.transforms.texts.passes.ttir_implicit_broadcast_fold import TTIRImplicitBroadcastFold
from ttnn_jit.transforms.texts.passes.ttir_infer_kv_cache_argument_types import TTIRInferKVCacheArgumentTypes
from ttnn_jit.transforms.texts.passes.ttir_propagate_weight_dtype import TTIRPropagateWeightDtype
from ttnn_jit.transforms.texts.passes.ttir_quant_data_type_conversion import TTIRQuantDataTypeConversion
from ttnn_jit.transforms.texts.passes.ttir_to_ttir_decomposition import TTIRToTTIRDecomposition
from ttnn_jit.transforms.texts.text_pass import TextPass, TextPipeline
from ttnn_jit.transforms.texts.ttnn_passes.convert_ttir_to_ttnn import ConvertTTIRToTTNN
from ttnn_jit.transforms.texts.ttnn_passes.ttnn_configure_ccl_ops import TTNNConfigureCCLOps
from ttnn_jit.transforms.texts.ttnn_passes.ttnn_const_eval_inputs_to_system_memory import (
    TTNNConstEvalInputsToSystemMemory,
)
from ttnn_jit.transforms.texts.ttnn_passes.ttnn_deallocate import TTNNDeallocate
from ttnn_jit.transforms.texts.ttnn_passes.ttnn_decompose_layouts import TTNNDecomposeLayouts
from ttnn_jit.transforms.texts.ttnn_passes.ttnn_fusing import TTNNFusing
from ttnn_jit.transforms.texts.ttnn_passes.ttnn_kv_cache_dtype_conversion import TTNNKVCacheDtypeConversion
from ttnn_jit.transforms.texts.ttnn_passes.ttnn_layout import TTNNLayout
from ttnn_jit.transforms.texts.ttnn_passes.ttnn_resolve_composites import TTNNResolveComposites
from ttnn_jit.transforms.texts.ttnn_passes.ttnn_trace_hoist_transform import TTNNTraceHoistTransform
from ttnn_jit.transforms.texts.ttnn_passes.ttnn_weight_dtype_conversion import NO_TYPE, TTNNWeightDtypeConversion

_NO_OPTIMIZER = "the optimizer asks a model of the chip; a CPU has none"
_NO_CHANGE = "it would change results"

_REFUSED: Mapping[str, str] = {
    "enable-optimizer": _NO_OPTIMIZER,
    "memory-layout-analysis-enabled": _NO_OPTIMIZER,
    "l1-interleaved-fallback-analysis-enabled": _NO_OPTIMIZER,
    "insert-memreconfig": _NO_OPTIMIZER,
    "override-output-layout": _NO_OPTIMIZER,
    "override-conv2d-config": _NO_OPTIMIZER,
    "row-major-enabled": _NO_OPTIMIZER,
    "enable-create-d2m-subgraphs": _NO_OPTIMIZER,
    "enable-ttnn-decomposition-pass": "it goes around what the chip's kernels do not take",
    "enable-bfp8-conversion": _NO_CHANGE,
    "experimental-bfp8-weights": _NO_CHANGE,
    "enable-cpu-hoisted-const-eval": "functions of the host are LLVM code there",
    "ttnn-perf-metrics-enabled": "it describes a chip's memory traffic",
}


_BLOCKS_OF_CONV3D = tuple(f"{each}_block" for each in ("t_out", "w_out", "h_out", "c_out", "c_in"))


@dataclass(frozen=True)
class CommonOptions(TextPipeline):
    """Options that the pipelines from TTIR share.

    Attributes:
        optimization_level: How hard the optimizer of a chip's layouts tries; accepted, without effect: no layout
            changes a number here.
        memreconfig_enabled, max_legal_layouts, tensor_l1_usage_cap, disable_workarounds, enable_layout_workaround_pass,
            enable_decomposition_workaround_pass, enable_ttnn_decomposition_pass, max_fallback_attempts,
            enable_dram_space_saving_optimization_pass: read by passes that do not run here; accepted, without effect.
        override_conv3d_config: How large blocks of `conv3d` the optimizer of a chip chooses for ops of given locations,
            as `loc=c_in_block#64:t_out_block#2,loc2=...`; accepted, without effect. Another type of weights is refused.
        compute_cfg_math_fidelity, compute_cfg_fp32_dest_acc_en, compute_cfg_math_approx_mode,
            compute_cfg_packer_l1_acc, compute_cfg_dst_full_sync_en: how a chip's kernels compute; accepted, without
            effect on a CPU.
    """

    refused: ClassVar[Mapping[str, str]] = _REFUSED

    system_desc_path: str = ""
    mock_system_desc_arch: str = "wormhole_b0"
    mesh_shape: tuple[int, ...] = ()
    mesh_topology: tuple[str, ...] = ()
    argument_types: str = ""
    optimization_level: int = 0
    enable_implicit_broadcast_folding_pass: bool = True
    enable_erase_inverse_ops_pass: bool = True
    enable_quant_dequant_conversion_pass: bool = True
    enable_fusing_pass: bool = True
    enable_fusing_conv2d_with_multiply_pattern: bool = False
    enable_permute_matmul_fusion: bool = True
    enable_permute_slice_after_matmul_fusion: bool = True
    enable_remove_dead_values: bool = False
    enable_const_eval: bool = True
    enable_const_eval_inputs_to_system_memory: bool = True
    enable_trace: bool = False
    composite_resolution: str = "auto"
    experimental_weight_dtype: str = NO_TYPE
    experimental_kv_cache_dtype: str = NO_TYPE
    target_bit_width: int = 32
    memreconfig_enabled: bool = True
    max_legal_layouts: int = 8
    tensor_l1_usage_cap: float = 0.95
    disable_workarounds: bool = False
    enable_layout_workaround_pass: bool = True
    enable_decomposition_workaround_pass: bool = True
    enable_ttnn_decomposition_pass: bool = True
    enable_dram_space_saving_optimization_pass: bool = False
    max_fallback_attempts: int = 0
    override_conv3d_config: str = ""
    compute_cfg_math_fidelity: str = ""
    compute_cfg_fp32_dest_acc_en: bool = False
    compute_cfg_math_approx_mode: bool = False
    compute_cfg_packer_l1_acc: bool = False
    compute_cfg_dst_full_sync_en: bool = False

    def __post_init__(self) -> None:
        """Checks the version, and that no block of a convolution is misspelled.

        Raises:
            ArgumentError: A config of `conv3d` is none.
            RefusalError: One has a type of weights.
        """
        super().__post_init__()
        for config in filter(None, self.override_conv3d_config.split(",")):
            for stated in config.partition("=")[2].split(":"):
                name, _, value = stated.partition("#")
                if name == "weights_dtype":
                    raise RefusalError(f"`override-conv3d-config` takes no `weights_dtype` here: {_NO_CHANGE}")
                if name not in _BLOCKS_OF_CONV3D or not value.isdecimal():
                    raise ArgumentError(
                        f"`override-conv3d-config={self.override_conv3d_config}`: {stated!r} is no block of a `conv3d`",
                        help=f"it is `location=name#number:...`, of {', '.join(_BLOCKS_OF_CONV3D)}",
                    )

    def before_hoisting(self) -> tuple[TextPass, ...]:
        """The passes over TTIR."""
        fusing = TTIRFusing(
            ttnn_enable_conv2d_with_multiply_pattern=self.enable_fusing_conv2d_with_multiply_pattern,
            ttnn_enable_permute_matmul_fusion=self.enable_permute_matmul_fusion,
            enable_permute_slice_after_matmul_fusion=self.enable_permute_slice_after_matmul_fusion,
        )
        fused = (fusing,) if self.enable_fusing_pass else ()
        inverse = (TTIRExplicateTMs(), TTIREraseInverseOps()) if self.enable_erase_inverse_ops_pass else ()
        folded = (TTIRImplicitBroadcastFold(),) if self.enable_implicit_broadcast_folding_pass else ()
        return (
            CanonicalizeText(),
            TTCoreWrapDeviceModule(),
            TTIRElementTypeNormalization(),
            TTCoreRegisterDeviceText(
                system_desc_path=self.system_desc_path,
                mock_system_desc_arch=self.mock_system_desc_arch,
                mesh_shape=self.mesh_shape,
                mesh_topology=self.mesh_topology,
            ),
            TTPopulateArgumentTypes(argument_types=self.argument_types),
            CanonicalizeText(),
            *fused,
            TTIRToTTIRDecomposition(),
            *fused,
            CanonicalizeText(),
            InlineText(),
            TTIRInferKVCacheArgumentTypes(),
            TTIRFlattenSlidingWindow(),
            *inverse,
            *folded,
            *fused,
            TTIRPropagateWeightDtype(),
            TTIRQuantDataTypeConversion(target_bit_width=self.target_bit_width, keep_levels=True),
            *((ConstEvalHoistTransform(),) if self.enable_const_eval else ()),
        )

    def lowering(self) -> tuple[TextPass, ...]:
        """The passes from TTIR to TTNN."""
        dead = (RemoveDeadValues(),) if self.enable_remove_dead_values else ()
        fused = (TTNNFusing(),) if self.enable_fusing_pass else ()
        hoisted = (ConstEvalHoistTransform(),) if self.enable_const_eval else ()
        on_host = (TTNNConstEvalInputsToSystemMemory(),) if self.enable_const_eval_inputs_to_system_memory else ()
        moved = (*on_host, CanonicalizeText()) if self.enable_const_eval else ()
        narrowed = TTNNWeightDtypeConversion(target_dtype=self.experimental_weight_dtype)
        resolved = TTNNResolveComposites(composite_resolution=self.composite_resolution)
        lowered = (TTNNLayout(), ConvertTTIRToTTNN(), TTNNConfigureCCLOps(), *dead, resolved)
        caches = TTNNKVCacheDtypeConversion(target_dtype=self.experimental_kv_cache_dtype)
        traced = (TTNNTraceHoistTransform(),) if self.enable_trace else ()
        return (*lowered, *fused, narrowed, caches, CanonicalizeText(), *hoisted, *moved, *traced)


@dataclass(frozen=True)
class TTIRToTTNNBackendPipeline(CommonOptions):
    """From TTIR to TTNN whose tensors are freed."""

    name = "ttir-to-ttnn-backend-pipeline"

    def passes(self) -> tuple[TextPass, ...]:
        """All passes."""
        return (*self.before_hoisting(), *self.lowering(), TTNNDecomposeLayouts(), TTNNDeallocate())


@dataclass(frozen=True)
class TTIRToTTNNRuntimePipeline(CommonOptions):
    """The name of `ttir-to-ttnn-backend-pipeline` in August 2026."""

    name = "ttir-to-ttnn-runtime-pipeline"

    def passes(self) -> tuple[TextPass, ...]:
        """All passes."""
        return (*self.before_hoisting(), *self.lowering(), TTNNDecomposeLayouts(), TTNNDeallocate())


@dataclass(frozen=True)
class TTIRToTTNNCommonPipeline(CommonOptions):
    """From TTIR to TTNN, without what depends on the runtime: layouts are not decomposed, and nothing is freed."""

    name = "ttir-to-ttnn-common-pipeline"

    def passes(self) -> tuple[TextPass, ...]:
        """The passes that every backend shares."""
        return (*self.before_hoisting(), *self.lowering())


@dataclass(frozen=True)
class TTNNCommonToRuntimePipeline(TextPipeline):
    """What follows `ttir-to-ttnn-common-pipeline` for the runtime."""

    name = "ttnn-common-to-runtime-pipeline"

    def passes(self) -> tuple[TextPass, ...]:
        """Layouts are decomposed, and tensors freed."""
        return (TTNNDecomposeLayouts(), TTNNDeallocate())


# --- Names of earlier versions ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TTIRLoadSystemDesc(TextPipeline):
    """The name of `ttcore-register-device` in 2024, with the file as `path`.

    Attributes:
        path: As `system-desc-path` of that pass.
    """

    name = "ttir-load-system-desc"

    path: str = ""

    def passes(self) -> tuple[TextPass, ...]:
        """The pass of today."""
        return (TTCoreRegisterDeviceText(system_desc_path=self.path),)


@dataclass(frozen=True)
class TTIRImplicitDevice(TextPipeline):
    """The pass of 2024 that followed `ttir-load-system-desc`; it is part of `ttcore-register-device`.

    Attributes:
        mesh_shape: As that of `ttcore-register-device`.
    """

    name = "ttir-implicit-device"

    mesh_shape: tuple[int, ...] = ()

    def passes(self) -> tuple[TextPass, ...]:
        """The pass of today."""
        return (TTCoreRegisterDeviceText(mesh_shape=self.mesh_shape),)


@dataclass(frozen=True)
class TTIRLayout(TextPipeline):
    """The name of `ttnn-layout` in 2024."""

    name = "ttir-layout"

    def passes(self) -> tuple[TextPass, ...]:
        """The pass of today."""
        return (TTNNLayout(),)
