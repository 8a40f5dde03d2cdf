"""The figures of cuda_bench and peer.py side by side: table.py OURS.json... -- PEER.json...

Several runs of each: the median counts. Exits with 1 where a goal was not reached.
"""

import json
import statistics
import sys

# figure, its name, unit, the peer's figure, "<=" or ">=", goal. A peer of None: the goal is a number itself.
GOALS = [
    ("pool_pair", "allocate + free through the pool", "us", None, "<=", 0.06),
    ("pool_live", "the same, 10,000 live, random order", "us", None, "<=", 0.1),
    ("add_8", "add of 8 elements, C++, to a bare launch", "us", "own:bare_launch", "<=", 1.2),
    ("add_8_node", "the same from Node, to PyTorch", "us", "add_8", "<=", 1.0),
    ("add_64m", "add of 64M f32", "TB/s", "add_64m", ">=", 0.98),
    ("relu_64m", "relu(x*2+1) of 64M as three ops", "us", "relu_64m", "<=", 1.02),
    ("sum_64m", "sum of 64M", "us", "sum_64m", "<=", 1.05),
    ("softmax", "softmax 8192x8192", "us", "softmax", "<=", 0.5),
    ("matmul_f32", "matmul 4096 f32", "TFLOP/s", "matmul_f32", ">=", 0.98),
    ("matmul_bf16", "matmul 4096 bf16", "TFLOP/s", "matmul_bf16", ">=", 0.98),
    ("mlp_32", "train step 784-128-64-10, backward by hand, batch 32, queued", "us", "mlp_32", "<=", 0.2),
    ("mlp_32_replayed", "the same, replayed", "us", "mlp_32_replayed", "<=", 1.05),
    ("mlp_1024", "train step 784-128-64-10, backward by hand, batch 1024, queued", "us", "mlp_1024", "<=", 0.2),
    ("mlp_1024_replayed", "the same, replayed", "us", "mlp_1024_replayed", "<=", 1.05),
    ("conv_32", "conv net train step, backward by hand, batch 32", "us", "conv_32", "<=", 0.3),
    ("conv_1024", "conv net train step, backward by hand, batch 1024", "us", "conv_1024", "<=", 1.0),
    ("mlp_32_adam_node", "trainOnBatch 784-128-64-10, Adam, batch 32, from Node", "us", "mlp_32_adam", "<=", 1.0),
    ("mlp_32_adam_node_recorded", "the same, recorded, to PyTorch eager", "us", "mlp_32_adam", "<=", 0.12),
    ("mlp_32_adam_node_recorded", "the same, to PyTorch's graph", "us", "mlp_32_adam_replayed", "<=", 1.3),
    ("lstm_node_recorded", "LSTM 128, 40 steps of 64, batch 32, train step from Node, recorded", "us", "lstm_adam", "<=", 1.0),
    ("mobilenet_1_node_recorded", "MobileNetV1, batch 1, from Node, recorded, to PyTorch eager", "us", "mobilenet_1", "<=", 0.25),
    ("encoder_1_node_recorded", "transformer encoder of 4 layers, batch 1, from Node, recorded, to PyTorch eager", "us", "encoder_1", "<=", 0.25),
    ("mlp_32_taped", "train step of batch 32 by tape and record, C++, to PyTorch's graph", "us", "mlp_32_replayed", "<=", 0.9),
    ("conv_32_recorded", "conv net train step, backward by hand, batch 32, recorded, to PyTorch's graph", "us", "conv_32_replayed", "<=", 1.0),
    ("conv_1024_recorded", "the same, batch 1024", "us", "conv_1024_replayed", "<=", 1.0),
    ("peak_over", "peak committed less 8 MB, to peak requested", "MB", "own:peak_requested", "<=", 1.1),
]


def medians(paths: list[str]) -> dict[str, float]:
    runs = []
    for path in paths:
        with open(path, encoding="utf8") as file:
            runs.append(json.load(file))
    names = {name for run in runs for name in run}
    return {name: statistics.median(run[name] for run in runs if name in run) for name in names}


def row(ours: dict[str, float], peer: dict[str, float], goal: tuple) -> tuple[str, bool | None]:
    figure, name, unit, against, relation, limit = goal
    value = ours.get(figure)
    if against is None:
        other, ratio = peer.get(figure), value
    else:
        own = against.startswith("own:")
        other = ours.get(against[4:]) if own else peer.get(against)
        ratio = None if value is None or not other else value / other
    if ratio is None:
        reached = None
    else:
        reached = ratio <= limit if relation == "<=" else ratio >= limit
    show = lambda number: "-" if number is None else f"{number:.4g}"  # noqa: E731
    verdict = {True: "yes", False: "NO", None: "not measured"}[reached]
    cells = [f"{name} ({unit})", show(value), show(other), show(ratio), f"{relation} {limit}", verdict]
    return "| " + " | ".join(cells) + " |", reached


def main() -> int:
    split = sys.argv.index("--")
    ours, peer = medians(sys.argv[1:split]), medians(sys.argv[split + 1 :])
    if "peak_committed" in ours:
        ours["peak_over"] = ours["peak_committed"] - 8
    print("| figure | Ebb | peer | ratio | goal | reached |\n|---|---|---|---|---|---|")
    missed = 0
    for goal in GOALS:
        line, reached = row(ours, peer, goal)
        print(line)
        missed += reached is not True
    for name in ("pool_pair_async", "conv_32_replayed", "conv_1024_replayed"):
        if name in peer:
            print(f"PyTorch's {name}: {peer[name]:.4g} us" + (f", Ebb's {ours[name]:.4g}" if name in ours else ""))
    return 1 if missed else 0


sys.exit(main())
