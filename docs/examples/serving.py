# A server of two models, an encoder like BERT and a decoder like GPT, whose requests have random batches and lengths.
#
#     python -m ttnn_jit docs/examples/serving.py
#
# `--compare` measures torch.compile too, each in a process of its own, and `--plot FILE` draws latencies and memory
# (`pip install matplotlib`).

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from dataclasses import dataclass

import torch
import ttnn

import ttnn_jit

CONTENDERS = ("ttnn_jit", "ttnn_jit, dynamic=False", "torch.compile, dynamic=True", "torch.compile")


@dataclass(frozen=True)
class Config:
    layers: int = 2
    width: int = 128
    heads: int = 4
    vocabulary: int = 1000
    longest: int = 128


SMALL = Config()
LARGE = Config(layers=6, width=384, heads=6, vocabulary=8000, longest=256)


@dataclass
class Layer:
    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    output: torch.Tensor
    up: torch.Tensor
    down: torch.Tensor
    norms: list


class Model:
    def __init__(self, config):
        width = config.width
        self.config = config
        self.tokens = 0.1 * torch.randn(config.vocabulary, width)
        self.positions = 0.1 * torch.randn(config.longest, width)
        self.layers = [self.layer(width) for _ in range(config.layers)]

    @staticmethod
    def layer(width):
        square = (torch.randn(width, width) * width**-0.5 for _ in range(4))
        up, down = torch.randn(width, 4 * width) * width**-0.5, torch.randn(4 * width, width) * (4 * width) ** -0.5
        return Layer(*square, up, down, [torch.ones(width), torch.zeros(width)])

    def in_ttnn(self, ids, positions, mask):
        """The last hidden states, batch x tokens x width."""
        batch, tokens = ids.shape
        heads, width = self.config.heads, self.config.width

        def split(x, weight, order):
            return ttnn.permute(ttnn.reshape(x @ weight, (batch, tokens, heads, width // heads)), order)

        x = ttnn.embedding(ids, self.tokens) + ttnn.embedding(positions, self.positions)
        for layer in self.layers:
            normal = ttnn.layer_norm(x, weight=layer.norms[0], bias=layer.norms[1], epsilon=1e-5)
            query, value = split(normal, layer.query, (0, 2, 1, 3)), split(normal, layer.value, (0, 2, 1, 3))
            scores = query @ split(normal, layer.key, (0, 2, 3, 1)) * (width // heads) ** -0.5 + mask
            attended = ttnn.permute(ttnn.softmax(scores, dim=-1) @ value, (0, 2, 1, 3))
            x = x + ttnn.reshape(attended, (batch, tokens, width)) @ layer.output
            normal = ttnn.layer_norm(x, weight=layer.norms[0], bias=layer.norms[1], epsilon=1e-5)
            x = x + ttnn.gelu(normal @ layer.up) @ layer.down
        return x

    def in_torch(self, ids, positions, mask):
        """The same in torch."""
        batch, tokens = ids.shape
        functional, width = torch.nn.functional, self.config.width

        def split(x, weight):
            return (x @ weight).view(batch, tokens, self.config.heads, -1).transpose(1, 2)

        x = functional.embedding(ids, self.tokens) + functional.embedding(positions, self.positions)
        for layer in self.layers:
            normal = functional.layer_norm(x, (width,), *layer.norms, 1e-5)
            query, key, value = (split(normal, each) for each in (layer.query, layer.key, layer.value))
            scores = query @ key.transpose(2, 3) * (width // self.config.heads) ** -0.5 + mask
            attended = (scores.softmax(-1) @ value).transpose(1, 2).reshape(batch, tokens, width)
            x = x + attended @ layer.output
            normal = functional.layer_norm(x, (width,), *layer.norms, 1e-5)
            x = x + functional.gelu(normal @ layer.up) @ layer.down
        return x


def requests(config, count):
    """Token ids, positions and masks of requests: padded texts for the encoder, causal ones for the decoder."""
    draw = random.Random(5)
    for number in range(count):
        batch, tokens = draw.randint(2, 8), draw.randint(2, config.longest)
        ids = torch.randint(config.vocabulary, (batch, tokens))
        positions = torch.arange(tokens).expand(batch, tokens).contiguous()
        if number % 2:
            yield "decoder", ids, positions, torch.full((tokens, tokens), -1e9).triu(1)[None, None]
        else:
            lengths = torch.tensor([draw.randint(1, tokens) for _ in range(batch)])
            kept = torch.arange(tokens) < lengths[:, None]
            yield "encoder", ids, positions, torch.where(kept, 0.0, -1e9)[:, None, None]


def compiled(contender, model):
    """The compiled function of a model, and the number of compiles so far."""
    if contender.startswith("ttnn_jit"):
        dynamic = False if contender.endswith("False") else None
        function = ttnn_jit.jit(dynamic=dynamic, enable_cache=False)(model.in_ttnn.__func__)
        return lambda *tensors: function(model, *tensors), lambda: ttnn_jit.cache_info().compiles
    import torch._dynamo

    torch._dynamo.config.recompile_limit = 256
    function = torch.compile(model.in_torch, dynamic=True if contender.endswith("True") else None)
    return function, lambda: torch._dynamo.utils.counters["stats"]["unique_graphs"]


def serve(contender, config, count):
    """The latencies of all requests, the compiles and the peak memory of this process."""
    torch.manual_seed(0)
    models = {"encoder": Model(config), "decoder": Model(config)}
    functions = {name: compiled(contender, model) for name, model in models.items()}
    latencies = []
    with torch.inference_mode():
        for name, *tensors in requests(config, count):
            start = time.perf_counter()
            result = functions[name][0](*tensors)
            latencies.append(1e3 * (time.perf_counter() - start))
            assert torch.allclose(result, models[name].in_torch(*tensors), atol=2e-3)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"latencies": latencies, "compiles": functions["encoder"][1](), "peak": peak}


def in_own_process(contender, arguments):
    command = [sys.executable, "-m", "ttnn_jit", __file__, "--serve", contender, "--requests", str(arguments.requests)]
    command += ["--large"] if arguments.large else []
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-2])


def line(contender, found):
    ordered = sorted(found["latencies"])
    median, slow = ordered[len(ordered) // 2], ordered[int(0.99 * len(ordered))]
    total = sum(ordered) / 1e3
    return (
        f"{contender:28} {found['compiles']:4} compiles, all requests {total:6.2f} s, median {median:7.2f} ms, "
        f"99 % {slow:8.1f} ms, peak {found['peak']:5.0f} MB"
    )


def draw(results, file):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (axis, bars) = pyplot.subplots(1, 2, figsize=(11, 4), width_ratios=(3, 1), constrained_layout=True)
    for contender, found in results.items():
        axis.plot(found["latencies"], ".", markersize=4, label=f"{contender}: {found['compiles']} compiles")
    axis.set(yscale="log", xlabel="request", ylabel="latency in ms", title="Latency of each request")
    axis.legend()
    bars.barh([*results], [found["peak"] for found in results.values()])
    bars.set(xlabel="MB", title="Peak memory")
    figure.savefig(file, dpi=110)
    print(f"written: {file}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=24)
    parser.add_argument("--large", action="store_true", help="6 layers of width 384")
    parser.add_argument("--compare", action="store_true", help="measure torch.compile too")
    parser.add_argument("--plot", metavar="FILE", help="draw the latencies and the memory")
    parser.add_argument("--serve", metavar="CONTENDER", choices=CONTENDERS, help="one contender, as JSON")
    arguments = parser.parse_args()
    config = LARGE if arguments.large else SMALL
    if arguments.serve:
        print(json.dumps(serve(arguments.serve, config, arguments.requests)))
        return
    if not (arguments.compare or arguments.plot):
        print(line(CONTENDERS[0], serve(CONTENDERS[0], config, arguments.requests)))
        return
    results = {}
    for contender in CONTENDERS if arguments.compare else CONTENDERS[:2]:
        results[contender] = in_own_process(contender, arguments)
        print(line(contender, results[contender]), flush=True)
    if arguments.plot:
        draw(results, arguments.plot)


if __name__ == "__main__":
    main()
    print("PASSED")
