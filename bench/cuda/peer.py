"""PyTorch's side of the figures on a GPU; cuda_bench.cpp is the other. Prints one JSON object: figure -> value.

Both sides multiply float32 exactly (no TF32, in convolutions neither) and train with plain stochastic gradient
descent; `mlp_32_adam` is for Node's trainOnBatch, which has Adam.
"""

import json
import random
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

SMALL = "small" in sys.argv[1:]  # on the CPU, to see that it runs
DEVICE = "cpu" if SMALL else "cuda"
MANY = 1 << 12 if SMALL else 1 << 26
SIDE = 64 if SMALL else 8192
MATMUL = 64 if SMALL else 4096
LARGE = 64 if SMALL else 1024
LIVE = 500 if SMALL else 10000
ROUNDS = 2 if SMALL else 7
SCALE = 50 if SMALL else 1

torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
torch.manual_seed(1)
figures: dict[str, float] = {}


def wait() -> None:
    if not SMALL:
        torch.cuda.synchronize()


def microseconds(times: int, work) -> float:
    """The median over rounds of what one of `times` repetitions takes, queued and waited for at the end."""
    times = max(1, times // SCALE)
    rounds = []
    for turn in range(-1, ROUNDS):  # the first one warms up
        begin = time.perf_counter()
        for _ in range(times):
            work()
        wait()
        if turn >= 0:
            rounds.append((time.perf_counter() - begin) / times * 1e6)
    return statistics.median(rounds)


def memory() -> None:
    figures["pool_pair"] = microseconds(20000, lambda: torch.empty(1024, device=DEVICE))
    if SMALL:
        return
    rows = async_allocations()
    if rows is not None:
        figures["pool_pair_async"], figures["pool_live"] = rows


def async_allocations():
    """cudaMallocAsync + cudaFreeAsync, through the runtime that PyTorch has loaded; None where it is not found."""
    import ctypes
    import re

    with open("/proc/self/maps", encoding="utf8") as maps:
        found = re.search(r"\S*libcudart[^\s]*\.so[^\s]*", maps.read())
    if found is None:
        return None
    runtime = ctypes.CDLL(found.group(0))
    pointer = ctypes.c_void_p()
    stream = ctypes.c_void_p(0)

    def allocate(size: int) -> int:
        if runtime.cudaMallocAsync(ctypes.byref(pointer), ctypes.c_size_t(size), stream) != 0:
            raise RuntimeError("cudaMallocAsync failed")
        return pointer.value

    def free(address: int) -> None:
        runtime.cudaFreeAsync(ctypes.c_void_p(address), stream)

    # What ctypes itself takes, to be left out.
    empty = microseconds(20000, lambda: (runtime.cudaGetLastError(), runtime.cudaGetLastError()))
    pair = microseconds(20000, lambda: free(allocate(4096)))
    live = [allocate(random.randint(256, 65536)) for _ in range(LIVE)]

    def swap() -> None:
        at = random.randrange(LIVE)
        free(live[at])
        live[at] = allocate(random.randint(256, 65536))

    both = microseconds(20000, swap)
    for address in live:
        free(address)
    return max(0.0, pair - empty), max(0.0, both - empty) / 2


def elementwise() -> None:
    small = torch.rand(8, device=DEVICE)
    figures["add_8"] = microseconds(1000, lambda: torch.add(small, small))
    a = torch.rand(MANY, device=DEVICE)
    b = torch.rand(MANY, device=DEVICE)
    figures["add_64m"] = 3 * 4 * MANY / microseconds(50, lambda: torch.add(a, b)) / 1e6
    figures["relu_64m"] = microseconds(50, lambda: torch.relu(a * 2 + 1))
    figures["sum_64m"] = microseconds(100, lambda: torch.sum(a))
    x = torch.rand(SIDE, SIDE, device=DEVICE)
    figures["softmax"] = microseconds(100, lambda: torch.softmax(x, -1))


def products() -> None:
    for name, dtype in (("matmul_f32", torch.float32), ("matmul_bf16", torch.bfloat16)):
        a = torch.rand(MATMUL, MATMUL, device=DEVICE).mul(2).sub(1).to(dtype)
        b = torch.rand(MATMUL, MATMUL, device=DEVICE).mul(2).sub(1).to(dtype)
        figures[name] = 2 * MATMUL**3 / microseconds(50, lambda a=a, b=b: torch.matmul(a, b)) / 1e6


def dense_net() -> nn.Module:
    return nn.Sequential(
        nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10)
    ).to(DEVICE)


def conv_net() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 8, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(256, 10),
    ).to(DEVICE)  # fmt: skip


def train(name: str, model: nn.Module, image: tuple[int, ...], batch: int, optimizer) -> None:
    x = torch.rand(batch, *image, device=DEVICE)
    y = torch.randint(0, 10, (batch,), device=DEVICE)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(x), y).backward()
        optimizer.step()

    figures[name] = microseconds(200, step)
    if SMALL:
        return
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    figures[name + "_replayed"] = microseconds(200, graph.replay)


def training() -> None:
    for name, make, image, batch in (
        ("mlp_32", dense_net, (784,), 32),
        ("mlp_1024", dense_net, (784,), LARGE),
        ("conv_32", conv_net, (1, 28, 28), 32),
        ("conv_1024", conv_net, (1, 28, 28), LARGE),
    ):
        model = make()
        train(name, model, image, batch, torch.optim.SGD(model.parameters(), lr=0.01))
    model = dense_net()
    # capturable, so that it can be replayed; eager without, as a program would have it
    train("mlp_32_adam", model, (784,), 32, torch.optim.Adam(model.parameters(), capturable=not SMALL))
    figures["mlp_32_adam"] = eager_adam()
    figures["lstm_adam"] = lstm()


def eager_adam() -> float:
    model = dense_net()
    optimizer = torch.optim.Adam(model.parameters())
    x = torch.rand(32, 784, device=DEVICE)
    y = torch.randint(0, 10, (32,), device=DEVICE)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(x), y).backward()
        optimizer.step()

    return microseconds(200, step)


def lstm() -> float:
    """LSTM of 128 over 40 steps of 64, batch 32, one number from its last state: a step with Adam."""
    net = nn.LSTM(64, 128, batch_first=True).to(DEVICE)
    head = nn.Linear(128, 1).to(DEVICE)
    optimizer = torch.optim.Adam([*net.parameters(), *head.parameters()])
    x = torch.rand(32, 40, 64, device=DEVICE)
    y = torch.rand(32, 1, device=DEVICE)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        F.mse_loss(head(net(x)[0][:, -1]), y).backward()
        optimizer.step()

    return microseconds(100, step)


def mobile_net() -> nn.Module:
    """MobileNetV1 at its full width, as hosts/tfjs/bench/programs.cjs has it."""

    def normed(conv: nn.Module, filters: int) -> list[nn.Module]:
        return [conv, nn.BatchNorm2d(filters, eps=1e-3), nn.ReLU6()]

    layers = normed(nn.Conv2d(3, 32, 3, stride=2, padding=1, bias=False), 32)
    channels = 32
    blocks = [64, 128, 128, 256, 256, *[512] * 6, 1024, 1024]
    for filters, stride in zip(blocks, [1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1]):
        depthwise = nn.Conv2d(channels, channels, 3, stride=stride, padding=1, groups=channels, bias=False)
        layers += normed(depthwise, channels)
        layers += normed(nn.Conv2d(channels, filters, 1, bias=False), filters)
        channels = filters
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1024, 1000), nn.Softmax(dim=1)]
    return nn.Sequential(*layers).to(DEVICE).eval()


def encoder():
    """Four layers of a transformer's encoder, 128 positions of 256, as hosts/tfjs/bench/networks.cjs has them."""
    length, width, heads = 128, 256, 8
    sizes = [(width, width)] * 4 + [(width, 4 * width), (4 * width, width)]
    layers = [[torch.randn(*size, device=DEVICE) * 0.05 for size in sizes] for _ in range(4)]

    def split(x: torch.Tensor) -> torch.Tensor:
        return x.reshape(length, heads, width // heads).transpose(0, 1)

    def run(x: torch.Tensor) -> torch.Tensor:
        for query, key, value, out, up, down in layers:
            inner = F.layer_norm(x, (width,))
            q, k, v = (split(inner @ each) for each in (query, key, value))
            scores = torch.softmax(q @ k.transpose(1, 2) * (width / heads) ** -0.5, -1)
            y = x + (scores @ v).transpose(0, 1).reshape(length, width) @ out
            x = y + torch.relu(F.layer_norm(y, (width,)) @ up) @ down
        return x

    return run


@torch.no_grad()
def inference() -> None:
    net, picture = mobile_net(), torch.rand(1, 3, 224, 224, device=DEVICE)
    figures["mobilenet_1"] = microseconds(200, lambda: net(picture))
    run, tokens = encoder(), torch.rand(128, 256, device=DEVICE)
    figures["encoder_1"] = microseconds(200, lambda: run(tokens))


memory()
elementwise()
products()
training()
inference()
print(json.dumps(figures))
