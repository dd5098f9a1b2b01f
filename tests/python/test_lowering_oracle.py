"""Types and shapes in lowered Programs against Triton's own IR for the same kernels and signatures.

Triton's front end is asked for its IR before any pass, so what is compared is what the language says, not what an
optimiser left of it: which loads, stores, atomics, dots, reductions and scans there are, with their types, and how
often; and which values the loops carry.
"""
import collections
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TILEWRIGHT_BUILD_DIR", ROOT / "build" / "release"))
FILE = ROOT / "tests" / "lowering" / "oracle_kernels.py"

f32, f16, i32 = "f32[64]", "f16[64]", "i32[64]"
CASES = {
    "helpers": dict(x=f32, n=100, B=16),
    "control": dict(x=f32, n=100, FLAG=True, B=32),
    "nested": dict(x=f32, n=100, B=16),
    "matmul": dict(a=f16, b=f16, c=f16, K=100, sa=64, sb=64, sc=64, M=16, N=32, KB=64),
    "promotions": dict(f16=f16, f32=f32, i8="i8[64]", i32=i32, i64="i64[64]", u8="u8[64]", flag="i1[64]", eps=0.5, n=100),
    "reductions": dict(x=f16, B=16, C=32),
    "shapes": dict(x=f32, B=64),
    "atomics": dict(x=f32, i=i32, n=100, B=32),
    "scalars": dict(x=f32, n=100, m=50, B=32),
    "descriptors": dict(a=f32, c=f32, M=100, N=200, BM=16, BN=32),
}
CONSTEXPR = {"FLAG", "B", "C", "M", "N", "KB", "BM", "BN"}
MLIR = {"u8": "i8", "u16": "i16", "u32": "i32", "u64": "i64"}


def is_constexpr(kernel, name):
    return name in CONSTEXPR and not (kernel == "descriptors" and name in "MN")


def triton_ir(kernel, arguments):
    sys.path.insert(0, str(FILE.parent))
    import oracle_kernels
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import ASTSource, make_backend

    target = GPUTarget("cuda", 90, 32)
    backend = make_backend(target)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    options = backend.parse_options({})
    spelled = {"f32": "fp32", "f16": "fp16"}
    signature, constants = {}, {}
    for name, value in arguments.items():
        if is_constexpr(kernel, name):
            signature[name] = "constexpr"
            constants[name] = value
        elif isinstance(value, str):
            dtype = value.split("[")[0]
            signature[name] = "*" + spelled.get(dtype, dtype)
        else:
            signature[name] = "fp32" if isinstance(value, float) else "i32"
    source = ASTSource(getattr(oracle_kernels, kernel), signature, constants)
    module = source.make_ir(target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context)
    return str(module)


def normal(text):
    """One spelling of a type: "16x32xf32", pointers as what they point at."""
    text = re.sub(r"!tt\.ptr<([a-z0-9]+)>|ptr<([a-z0-9]+)>", lambda m: m.group(1) or m.group(2), text)
    text = re.sub(r"(?:tensor|tile|descriptor|!tt\.tensordesc)<(.*)>", r"\1", text).replace(" x ", "x").strip()
    return "x".join(MLIR.get(part, part) for part in text.split("x"))


def facts_of_triton(text):
    """Facts with their number; the body of a helper counts once for each call of it."""
    functions, name = collections.defaultdict(list), None
    for line in text.splitlines():
        start = re.match(r"\s*tt\.func \w+ @(\"[^\"]*\"|[\w.$]+)\(", line)
        if start:
            name = start.group(1).strip('"')
        if name:
            functions[name].append(line)
    kernel = next(n for n, lines in functions.items() if " public " in lines[0])

    def facts(name):
        counts, pending = collections.Counter(), None
        for line in functions[name]:
            call = re.search(r"tt\.call @(\"[^\"]*\"|[\w.$]+)\(", line)
            if call:
                counts += facts(call.group(1).strip('"'))
            types = re.sub(r" loc\(.*", "", line)
            for op in ("load", "store", "atomic_rmw", "atomic_cas", "descriptor_load", "descriptor_store"):
                if re.search(rf"\btt\.{op} ", types):
                    written = types.rsplit(" : ", 1)[1]
                    if op == "atomic_rmw":
                        written = written.split(")")[0].strip("( ").split(", ")[0]
                    if op == "atomic_cas":
                        written = written.strip("( ").split(", ")[0]
                    if op == "descriptor_load":
                        written = written.split(" -> ")[1]
                    if op == "descriptor_store":
                        written = written.split(", ")[1]
                    counts[op, normal(written)] += 1
            if " tt.dot " in types:
                a, b, result = re.match(r".* : (\S+) \* (\S+) -> (\S+)", types).groups()
                counts["dot", normal(a), normal(b), normal(result)] += 1
            started = re.search(r'"tt\.(reduce|scan)"', types)
            if started:
                pending = started.group(1)
            if pending and re.match(r"\s*\}\) : ", types):
                operands, results = re.match(r"\s*\}\) : \((.*)\) -> (.*)", types).groups()
                split = lambda t: tuple(normal(x) for x in re.findall(r"tensor<[^>]*>|[a-z]\w*", t))
                counts[pending, split(operands), split(results)] += 1
                pending = None
            loop = re.search(r"scf\.for .*iter_args\(.*\) -> \((.*)\)", types)
            if loop:
                carried = re.findall(r"tensor<(?:[^<>]|<[^>]*>)*>|!tt\.ptr<\w+>|\w+", loop.group(1))
                counts["for", tuple(sorted(normal(t) for t in carried))] += 1
        return counts

    return facts(kernel)


def facts_of_program(text):
    counts, types = collections.Counter(), {}
    for name, written in re.findall(r"%([\w.]+): ((?:tile|descriptor)<(?:[^<>]|<[^>]*>)*>|ptr<\w+>|\w+)", text):
        types[name] = normal(written)
    type_list = r"(?:(?:tile|descriptor)<(?:[^<>]|<[^>]*>)*>|ptr<\w+>|\w+)"
    for line in text.splitlines():
        match = re.match(r"\s*(?:(%[^=]*?) = )?([a-z_]+)((?: %[\w.]+,?)*)(.*)", line)
        if not match or match.group(2) in ("kernel", "symbol", "require", "path", "source", "remark"):
            continue
        results, op, operands, tail = match.groups()
        operands = [o.strip(" ,%") for o in operands.split()]
        result_types = []
        if results:
            after = re.sub(r"^ \{[^}]*\}", "", tail)
            listed = re.match(rf" : ({type_list}(?: = [^,{{]*)?(?:, {type_list}(?: = [^,{{]*)?)*)", after)
            result_types = [normal(t) for t in re.findall(rf"(?:^|, )({type_list})", listed.group(1))] if listed else []
            for name, written in zip(results.split(", "), result_types):
                types[name.strip("%")] = written
        if op in ("load", "descriptor_load"):
            counts[op, result_types[0]] += 1
        elif op == "store":
            counts[op, types[operands[0]]] += 1
        elif op == "descriptor_store":
            counts[op, types[operands[1]]] += 1
        elif op in ("atomic_rmw", "atomic_cas"):
            counts[op, types[operands[0]]] += 1
        elif op == "dot":
            counts["dot", types[operands[0]], types[operands[1]], result_types[0]] += 1
        elif op in ("reduce", "scan"):
            counts[op, tuple(types[o] for o in operands), tuple(result_types)] += 1
        elif op == "for" and result_types:
            counts["for", tuple(sorted(result_types))] += 1
    return counts


@pytest.mark.parametrize("kernel", CASES)
def test_types_are_tritons(kernel):
    pytest.importorskip("triton")
    program = BUILD / "bin" / "tilewright-lower"
    if not program.exists():
        pytest.skip(f"{program} is missing: build it, or set TILEWRIGHT_BUILD_DIR")
    arguments = CASES[kernel]
    spelled = [f"{name}={value}" for name, value in arguments.items()]
    lowered = subprocess.run([program, FILE, kernel, *spelled], capture_output=True, text=True)
    assert lowered.returncode == 0, lowered.stderr
    assert facts_of_program(lowered.stdout) == facts_of_triton(triton_ir(kernel, arguments))
