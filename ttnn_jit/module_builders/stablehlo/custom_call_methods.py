"""Methods of custom calls and composites, which StableHLO names by their targets and names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, StringAttr, SymbolRefAttr, i32

from ttnn_jit.module_builders.base.debug_methods import DebugMethods
from ttnn_jit.ops.public_names import did_you_mean
from ttnn_jit.ttmlir.mlir_functions import FuncOp
from ttnn_jit.ttmlir.mlir_values import Value


class CustomCallMethods(DebugMethods):
    """Composites, and operations of TTNN that have neither an op in StableHLO nor one in TTIR."""

    def flash_mla_prefill(
        self,
        query: Value,
        key: Value,
        head_dim_v: int,
        value: Value | None = None,
        attention_mask: Value | None = None,
        is_causal: bool = True,
        scale: float | None = None,
        **trailing: Any,
    ) -> Any:
        """Attention whose values are the first numbers of the keys, if it has no others.

        Args:
            query: [B, H, S, D].
            key: [B, G, T, D] of G heads, each for H / G of the query.
            head_dim_v: The last extent of the result, [B, H, S, head_dim_v].
            value: [B, G, T, head_dim_v].
            attention_mask: What is added to the scores.
            is_causal: Whether a query sees the keys up to its own place alone; not with a mask.
            scale: The factor of scores; by default the inverse root of D.
            **trailing: ``loc``, ``unit_attrs``, ``sharding_attr``.
        """
        given = {"head_dim_v": head_dim_v, "is_causal": is_causal, "scale": scale}
        flags = {"has_value": value is not None, "has_attention_mask": attention_mask is not None}
        operands = [each for each in (query, key, value, attention_mask) if each is not None]
        shape = [*self.get_shape(query)[:-1], head_dim_v]
        return self._custom_call("tt.flash_mla_prefill", operands, {**given, **flags}, shape, **trailing)

    def indexer_score_dsa(
        self, query: Value, key: Value, weights: Value, chunk_start_idx: int = 0, **trailing: Any
    ) -> Any:
        """The score [B, 1, S, T] of each query and key: the weighted sum over heads of products above 0.

        Args:
            query: [B, H, S, D].
            key: [B, 1, T, D].
            weights: [B, H, S, 1].
            chunk_start_idx: The place of the first query; keys behind a query have -infinity.
            **trailing: ``loc``, ``unit_attrs``, ``sharding_attr``.
        """
        batch, _, rows, _ = self.get_shape(query)
        shape = [batch, 1, rows, self.get_shape(key)[2]]
        given = {"chunk_start_idx": chunk_start_idx}
        return self._custom_call("tt.indexer_score_dsa", [query, key, weights], given, shape, **trailing)

    def composite(
        self,
        composite_name: str,
        operands: Sequence[Value],
        decomposition: str | FuncOp,
        loc: Any = None,
        unit_attrs: Sequence[str] | None = None,
        sharding_attr: Any = None,
        composite_attributes: Any = None,
    ) -> Any:
        """What a function of the module computes, by a name by which compilers may know it.

        Args:
            composite_name: The name.
            operands: Its operands.
            decomposition: The function, or its name.
            loc: Where it comes from; by default the line that called the builder.
            unit_attrs: Names of more attributes.
            sharding_attr: How its results are cut.
            composite_attributes: A dictionary of attributes.

        Raises:
            ValueError: This builder has made no function of that name.
        """
        name = decomposition.removeprefix("@") if isinstance(decomposition, str) else decomposition.name.value
        made = next((each for each in self._func_ops_generated if each.name.value == name), None)
        if made is None:
            known = [each.name.value for each in self._func_ops_generated]
            raise ValueError(f"this builder has no function @{name}{did_you_mean(name, known)}")
        attributes: dict[str, Any] = {"name": StringAttr(composite_name), "decomposition": SymbolRefAttr(name)}
        if composite_attributes is not None:
            attributes["composite_attributes"] = composite_attributes.held
        return self.emit(
            "stablehlo.composite",
            {"inputs": [*operands]},
            attributes,
            types=[*made.type.results],
            loc=loc,
            unit_attrs=unit_attrs,
            sharding_attr=sharding_attr,
        )

    def _custom_call(
        self,
        target: str,
        operands: Sequence[Value],
        attributes: Mapping[str, Any],
        shape: Sequence[int],
        **trailing: Any,
    ) -> Any:
        """A call with attributes as texts, whose result has the element type of the first operand."""
        texts = {key: StringAttr(str(value)) for key, value in attributes.items() if value is not None}
        return self.emit(
            "stablehlo.custom_call",
            {"inputs": [*operands]},
            {"call_target_name": StringAttr(target), "api_version": IntegerAttr(0, i32)},
            types=[self.tensor_type(shape, self.get_type(operands[0]))],
            discardable={"mhlo.frontend_attributes": DictionaryAttr(texts)},
            **trailing,
        )
