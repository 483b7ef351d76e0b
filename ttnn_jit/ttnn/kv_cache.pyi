# Written by `make docs` from the declarations in ttnn_jit/ops; a test proves it current.
from ttnn_jit.ttnn.calling.eager_functions import _FillCache
from ttnn_jit.ttnn.calling.eager_functions import _UpdateCache

__all__ = [
    "fill_cache_for_user_",
    "update_cache_for_token_",
]

fill_cache_for_user_: _FillCache
update_cache_for_token_: _UpdateCache
