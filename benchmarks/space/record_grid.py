"""Records full grids of tile configs on an NVIDIA GPU, in the form that ``make bench-space`` replays without one.

    python3 benchmarks/space/record_grid.py --out DIR [--families a,b] [--points 600] [--seconds 500]

Needs torch and Triton with a GPU. The kernels are those of ``families.json``, the shapes and tiles those of
``gpu_grids.json``. Every point is compiled (in parallel, before anything is measured), compared with the first valid
one's output, and timed with an emptied L2 cache: the median of seven launches for all, three more interleaved rounds
for the best fifth. Grids with more points than ``--points`` are sampled with a fixed seed; the header says so.
"""

import argparse
import importlib.util
import itertools
import json
import multiprocessing
import os
import random
import re
import statistics
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

HERE = Path(__file__).resolve().parent
DTYPES = {"f32": "float32", "f16": "float16", "bf16": "bfloat16", "i8": "int8", "i32": "int32", "i64": "int64"}
MOST_ELEMENTS = {False: 128, True: 256}  # a thread; with a dot: of accumulators. More spills, and compiles for seconds
AHEAD_CYCLES = 200_000  # the device waits this long before a sample, so that the host is always ahead of it


def cdiv(a, b):
    return -(-a // b)


def substituted(text, shape):
    return re.sub(r"\{(\w+)(-1)?\}", lambda m: str(shape[m[1]] - (1 if m[2] else 0)), text)


def arguments_of(family, shape):
    """[(name, value)]: a number, or (dtype name, dimensions, highest value or None)."""
    out = []
    for text in family["arguments"]:
        name, value = substituted(text, shape).split("=")
        tensor = re.fullmatch(r"(\w+)\[([\d,]+)\](?::0\.\.(\d+))?", value)
        if tensor:
            out.append((name, (DTYPES[tensor[1]], [int(d) for d in tensor[2].split(",")], tensor[3] and int(tensor[3]))))
        else:
            out.append((name, float(value) if "." in value or "e" in value else int(value)))
    return out


def load(family):
    file, name = family["kernel"].split(":")
    spec = importlib.util.spec_from_file_location(file.removesuffix(".py"), HERE / "kernels" / file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def points_of(name, family, plan, shape, most):
    names = list(plan["tiles"])
    out = []
    for values in itertools.product(*plan["tiles"].values()):
        tile = dict(zip(names, values))
        if any(tile[parameter] < shape[extent] for parameter, extent in plan.get("covers", {}).items()):
            continue
        elements = 1
        for parameter, value in tile.items():
            if parameter not in ("BLOCK_K", "GROUP_M") or not family["dot"]:
                elements *= value
        for warps in (1, 2, 4, 8, 16) if not family["dot"] else (2, 4, 8, 16):
            if elements / (32 * warps) > MOST_ELEMENTS[family["dot"]]:
                continue
            out.extend((tile, warps, stages) for stages in plan.get("stages", [None]))
    total = len(out)
    if total > most:
        out = [out[i] for i in sorted(random.Random(f"{name}{sorted(shape.items())}").sample(range(total), most))]
    return out, total


def options(family, point):
    tile, warps, stages = point
    out = {**tile, "num_warps": warps}
    if stages is not None:
        out["num_stages"] = stages
        if "stages" in family:
            out[family["stages"]] = stages
    return out


def compile_point(task):
    """In a worker process: Triton's own cache carries the binary over to the process that measures."""
    import torch
    from triton.runtime.jit import MockTensor

    family, arguments, point = task
    begin = time.perf_counter()
    try:
        values = [MockTensor(getattr(torch, v[0])) if isinstance(v, tuple) else v for _, v in arguments]
        binary = load(family).warmup(*values, grid=(1,), **options(family, point))
        binary._init_handles()
        out = {"st": "ok", "sh": binary.metadata.shared, "reg": binary.n_regs, "sp": binary.n_spills}
    except Exception as error:  # the point's verdict, whatever it is
        text = f"{type(error).__name__}: {error}"
        out = {"st": "oor_shared" if "shared memory" in text else "compile_error", "why": text[:160]}
    out["ct"] = round(time.perf_counter() - begin, 3)
    return out


class Device:
    def __init__(self):
        import torch

        self.torch = torch
        self.flush = torch.empty(256 << 20, dtype=torch.int8, device="cuda")

    def tensors(self, arguments):
        torch = self.torch
        torch.manual_seed(1)
        out = []
        for _, value in arguments:
            if not isinstance(value, tuple):
                out.append(value)
                continue
            dtype, dims, high = getattr(torch, value[0]), value[1], value[2]
            if high is not None:
                out.append(torch.randint(0, high + 1, dims, dtype=dtype, device="cuda"))
            elif dtype.is_floating_point:
                out.append(torch.randn(dims, dtype=torch.float32, device="cuda").to(dtype))
            else:
                out.append(torch.randint(-8, 8, dims, dtype=dtype, device="cuda"))
        return out

    def samples(self, launch, count):
        torch = self.torch
        pairs = []
        for _ in range(count):
            self.flush.zero_()
            torch.cuda._sleep(AHEAD_CYCLES)
            pair = (torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True))
            pair[0].record()
            launch()
            pair[1].record()
            pairs.append(pair)
        torch.cuda.synchronize()
        return [begin.elapsed_time(end) * 1e3 for begin, end in pairs]


def measure(device, family, shape, points, verdicts):
    torch = device.torch
    arguments = arguments_of(family, shape)
    values = device.tensors(arguments)
    fresh = [v.clone() if hasattr(v, "clone") else v for v in values]
    kernel = load(family)
    place = compile(substituted(family["grid"], shape), "grid", "eval")
    expected = None
    launches = {}
    for index, (point, verdict) in enumerate(zip(points, verdicts)):
        if verdict["st"] != "ok":
            continue
        settings = options(family, point)
        grid = eval(place, {"cdiv": cdiv, **dict(arguments), **settings})
        run = lambda settings=settings, grid=grid: kernel[grid](*values, **settings)
        try:
            for value, start in zip(values, fresh):
                if hasattr(value, "copy_"):
                    value.copy_(start)
            run()
            torch.cuda.synchronize()
        except Exception as error:
            verdict.update(st="run_error", why=f"{type(error).__name__}: {error}"[:160])
            continue
        outputs = [v.float() if hasattr(v, "float") and v.is_floating_point() else None for v in values]
        if expected is None:
            expected = outputs
        verdict["err"] = round(max(float((o - e).abs().max() / (e.abs().max() + 1e-9)) for o, e in zip(outputs, expected) if o is not None), 6)
        once = device.samples(run, 1)[0]
        best = min((v["us"] for v in verdicts[:index] if "us" in v), default=once)
        verdict["us"] = round(statistics.median(device.samples(run, 7 if once < 10 * best else 2)), 3)
        launches[index] = run
    ranked = sorted(launches, key=lambda i: verdicts[i]["us"])[: max(12, len(launches) // 5)]
    careful = {index: [] for index in ranked}
    for turn in range(3):
        random.Random(turn).shuffle(ranked)
        for index in ranked:
            careful[index] += device.samples(launches[index], 7)
    for index, samples in careful.items():
        verdicts[index]["us"] = round(statistics.median(samples), 3)
        verdicts[index]["t"] = [round(f(samples), 3) for f in (statistics.median, min, max)] + [len(samples)]
    del values, fresh
    torch.cuda.empty_cache()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--families", default="")
    parser.add_argument("--points", type=int, default=600)
    parser.add_argument("--seconds", type=float, default=1e9, help="wait for no further shape's compilation after this time")
    settings = parser.parse_args()
    os.environ.setdefault("TRITON_CACHE_DIR", str(settings.out / "cache"))
    begin = time.perf_counter()
    families = json.loads((HERE / "families.json").read_text())
    plans = json.loads((HERE / "gpu_grids.json").read_text())
    chosen = settings.families.split(",") if settings.families else list(plans)
    settings.out.mkdir(parents=True, exist_ok=True)
    work = [(name, shape) for turn in range(3) for name in chosen for shape in plans[name]["shapes"][turn : turn + 1]]
    context = multiprocessing.get_context("spawn")
    written = set()
    with ProcessPoolExecutor(max(1, (os.cpu_count() or 2) - 1), mp_context=context) as pool:
        pending = []
        for name, shape in work:
            points, total = points_of(name, families[name], plans[name], shape, settings.points)
            tasks = [(families[name], arguments_of(families[name], shape), point) for point in points]
            pending.append((name, shape, points, total, [pool.submit(compile_point, task) for task in tasks]))
        done = []
        for name, shape, points, total, futures in pending:
            if time.perf_counter() - begin > settings.seconds:
                for future in futures:
                    future.cancel()
                print(f"left out for time: {name} {shape}", flush=True)
                continue
            done.append((name, shape, points, total, [future.result() for future in futures]))
            print(f"{name} {shape}: compiled at {time.perf_counter() - begin:.0f} s", flush=True)
    # Nothing compiles any more: a busy host would launch late, and the device would seem slow.
    import triton

    device = Device()
    for name, shape, points, total, verdicts in done:
        measure(device, families[name], shape, points, verdicts)
        header = {"kind": "header", "kernel": name, "shape": shape, "shape_id": "x".join(map(str, shape.values())), "protocol": "cold",
                  "points": len(points), "of": total, "device": device.torch.cuda.get_device_name(), "triton": triton.__version__}  # fmt: skip
        with open(settings.out / f"{name}.jsonl", "a" if name in written else "w") as file:
            print(json.dumps(header), file=file)
            for (tile, warps, stages), verdict in zip(points, verdicts):
                print(json.dumps({"kind": "point", "shape_id": header["shape_id"], "c": tile, "w": warps, "s": stages, **verdict}), file=file)
        written.add(name)
        times = [v["us"] for v in verdicts if "us" in v]
        worst = max((v["err"] for v in verdicts if "err" in v), default=0)
        print(f"{name} {header['shape_id']}: {len(times)} of {len(points)} (of {total}) ran, best {min(times, default=0):.1f} us, "
              f"largest error {worst}, done at {time.perf_counter() - begin:.0f} s", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
