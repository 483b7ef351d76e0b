"""Every benchmark of speed in turn, behind one progress bar: what ``make bench`` runs.

Each writes ``benchmarks/results/<name>.json`` step by step, then tables (.md) and plots (.png); results/README.md is
the index. A full run takes about forty minutes on two cores, a quick one a quarter of an hour. Run it on a
machine that does nothing else.
"""

from __future__ import annotations

import json

from benchmarks.harness.harness import RESULTS, Benchmark, command_line, report, run
from benchmarks.kernels import (
    attention,
    convolution,
    elementwise,
    matmul,
    movement,
    reductions,
    roofline,
    vector_math,
    workloads,
)
from benchmarks.programs import (
    compile_costs,
    curves,
    dynamic,
    latency,
    memory,
    meshes,
    models,
    program_cache,
    ranks,
    scaling,
    traces,
)

BENCHMARKS: dict[str, Benchmark] = {
    module.BENCHMARK.name: module.BENCHMARK
    for module in (
        program_cache,
        dynamic,
        compile_costs,
        latency,
        traces,
        meshes,
        ranks,
        scaling,
        elementwise,
        workloads,
        matmul,
        reductions,
        movement,
        attention,
        convolution,
        models,
        roofline,
        memory,
        curves,
        vector_math,
    )
}


def write_index() -> None:
    """Writes ``results/README.md``: the list of results, with machines and plots."""
    parts = ["# Results\n\nWritten by `make bench` (`python -m benchmarks.run`), not by hand.\n"]
    for benchmark in BENCHMARKS.values():
        file = RESULTS / f"{benchmark.name}.json"
        if not file.exists():
            continue
        about = json.loads(file.read_text(encoding="utf-8"))["machine"]
        facts = (
            f"{about['date']}, {about['cpus']} CPUs of {about['cpu']}, commit {about['commit']}, `{about['command']}`"
        )
        parts.append(f"## [{benchmark.name}]({benchmark.name}.md)\n\n{benchmark.summary}\n\n{facts}\n")
        shown = sorted(RESULTS.glob(f"{benchmark.name}.png")) + sorted(RESULTS.glob(f"{benchmark.name}_*.png"))
        parts += [f"![{benchmark.name}]({path.name})\n" for path in shown]
    (RESULTS / "README.md").write_text("\n".join(parts), encoding="utf-8")


def main() -> None:
    """Runs the named benchmarks, all by default."""
    parser = command_line("run")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; all by default")
    parser.add_argument("--quick", action="store_true", help="fewer cases and rounds")
    parser.add_argument("--resume", action="store_true", help="keep the results of a run that was broken off")
    parser.add_argument("--report", action="store_true", help="measure nothing: tables and plots of what was measured")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"there is no {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    chosen = [BENCHMARKS[name] for name in options.names or BENCHMARKS]
    if options.report:
        for benchmark in (each for each in chosen if (RESULTS / f"{each.name}.json").exists()):
            report(benchmark)
    else:
        run(chosen, quick=options.quick, resume=options.resume)
    write_index()
    print(f"written: {RESULTS / 'README.md'}")


if __name__ == "__main__":
    main()
