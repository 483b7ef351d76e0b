"""Errors about a call name the argument, keyword or option."""

from __future__ import annotations

from operator import attrgetter

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ops import EAGER, OPERATIONS

X = torch.randn(64, 64)


def tiled(device, data=X):
    return ttnn.from_torch(data, layout=ttnn.TILE_LAYOUT, device=device)


@ttnn_jit.jit()
def pair(x, y):
    return x + y


@ttnn_jit.jit()
def nested(*, many):
    return many[0] + many[1]["k"]


def test_tensors_on_different_devices_are_named_by_their_arguments(device):
    here, host = tiled(device), ttnn.from_torch(X, layout=ttnn.TILE_LAYOUT)
    refused = {
        "pair: `y` is on the host": lambda: pair(here, host),
        "pair: `x` is on the host, `y` is on the host": lambda: pair(host, host),
        "nested: a tensor in `many` is on the host": lambda: nested(many=[here, {"k": host}]),
        "pair: torch tensors and ttnn tensors in one call: `x` is a ttnn tensor, `y` is a torch tensor": (
            lambda: pair(here, X)
        ),
        "pair: torch tensors and ttnn tensors in one call: `x` is a torch tensor, `y` is a ttnn tensor": (
            lambda: pair(X, host)
        ),
        "ttnn.add: `input_tensor_b` is on the host": lambda: ttnn.add(here, host),
        "ttnn.where: `true_value` is on the host": lambda: ttnn.where(here, host, here),
    }
    for text, call in refused.items():
        with pytest.raises(ArgumentError) as raised:
            call()
        assert raised.value.message.endswith(text)
    with ttnn.open_device(device_id=1) as other, pytest.raises(ValueError, match="one") as raised:
        pair(here, tiled(other))
    assert f"different devices: `x` is on {device}, `y` is on {other}\n" in str(raised.value)


@pytest.mark.parametrize("operation", [each for each in OPERATIONS if each.name in EAGER], ids=str)
def test_a_keyword_that_an_operation_does_not_have_is_named_whatever_else_is_wrong(device, operation):
    called = attrgetter(operation.name)(ttnn)
    for arguments in ([], [tiled(device)], [tiled(device)] * 5):
        with pytest.raises(ValueError, match=f"`{operation.name}` (has no argument `no_such`|takes at most)"):
            called(*arguments, no_such=1)


@pytest.mark.parametrize(
    ("option", "help_text"),
    [
        ("cache", "did you mean `enable_cache`?"),
        ("capture", "did you mean `graph_capture`?"),
        ("graph_captur", "did you mean `graph_capture`?"),
        ("compile_onyl", "did you mean `compile_only`?"),
        ("static_argnums", "its options are enable_cache, graph_capture, "),
    ],
)
def test_an_unknown_option_of_jit_is_named_with_the_nearest_one(option, help_text):
    with pytest.raises(ValueError, match=f"jit has no option `{option}`") as raised:
        ttnn_jit.jit(**{option: True})
    assert raised.value.help.startswith(help_text)
