"""Every public name of the installed triton.language either lowers, or is listed in Unsupported.def and refused.

The names come from the installed package, so a new release of Triton shows here as a name without an answer.
"""
import ast
import os
import re
import subprocess
from pathlib import Path

import pytest

import triton
import triton.language as tl
from triton.language.extra import cuda, hip, libdevice

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TILEWRIGHT_BUILD_DIR", ROOT / "build" / "release"))
UNSUPPORTED = ROOT / "src" / "program" / "lowering" / "Unsupported.def"

# Around each snippet: tiles of 16 elements of some dtypes, a matrix, scalars, helpers.
PRELUDE = '''import triton
import triton.language as tl
from triton.language.extra import libdevice

@triton.jit
def plus(a, b):
    return a + b

@triton.jit
def relu(a):
    if a > 0:
        r = a
    else:
        r = 0.0
    return r

@triton.jit
def k(F32, F64, F16, I32, I64, U8, U32, U64, n, s, B: tl.constexpr):
    i = tl.arange(0, 16)
    x = tl.load(F32 + i)
    y = tl.load(F32 + 16 + i)
    m = tl.reshape(tl.load(F32 + tl.arange(0, 256)), (16, 16))
    h = tl.reshape(tl.load(F16 + tl.arange(0, 256)), (16, 16))
    d = tl.load(F64 + i)
    j = tl.load(I32 + i)
    l = tl.load(I64 + i)
    u = tl.load(U32 + i)
    w = tl.load(U64 + i)
    b = tl.load(U8 + i)
'''
ARGUMENTS = ["F32=f32[512]", "F64=f64[512]", "F16=f16[512]", "I32=i32[512]", "I64=i64[512]", "U8=u8[512]", "U32=u32[512]",
             "U64=u64[512]", "n=100", "s=1.5", "B=16"]

DESC = "D = tl.make_tensor_descriptor(F32, [n, 16], [16, 1], [16, 16])\n"
ROWS = "D = tl.make_tensor_descriptor(F32, [n, 16], [16, 1], [1, 16])\n"
INTS = "D = tl.make_tensor_descriptor(U32, [n, 16], [16, 1], [16, 16])\n"
POINTER = "p = tl.make_block_ptr(F32, (n, 16), (16, 1), (0, 0), (16, 16), (1, 0))\n"

# How each function is called: the text is an expression, or statements that end in one.
CALLS = {
    "abs": "x", "add": "x, y", "arange": "0, 16", "argmax": "x, 0", "argmin": "x, 0", "associative_scan": "x, 0, plus",
    "assume": "n > 0", "atomic_add": "F32 + i, x", "atomic_and": "I32 + i, j", "atomic_cas": "I32 + i, j, j",
    "atomic_load": "I32 + i, mask=i < n, sem='relaxed'", "atomic_max": "I32 + i, j", "atomic_min": "I32 + i, j",
    "atomic_or": "I32 + i, j", "atomic_poll": "I32, 1, timeout_ns=100", "atomic_store": "I32 + i, j, mask=i < n",
    "atomic_xchg": "I32 + i, j", "atomic_xor": "I32 + i, j", "bitonic_merge": "x", "block_type": "tl.float32, [16]",
    "broadcast": "x[:, None], y[None, :]", "broadcast_to": "x[:, None], (16, 16)", "cast": "x, tl.float16, 'rtz'",
    "cat": "x, y, can_reorder=True", "cdiv": "n, 16", "ceil": "x", "clamp": "x, 0.0, 1.0", "constexpr": "3", "cos": "x",
    "cumprod": "x, 0", "cumsum": "x, 0, reverse=True", "debug_barrier": "", "device_assert": "n > 0, 'text'",
    "device_print": "'x', x", "div_rn": "x, y", "dot": "m, m", "dtype": "'fp32'", "erf": "x", "exp": "x", "exp2": "x",
    "dot_scaled": "b.reshape(1, 16).broadcast_to(16, 16).to(tl.uint8), None, 'e5m2', b.reshape(16, 1).broadcast_to(16, 16), None, 'e5m2'",
    "expand_dims": "x, 0", "expect_zero": "x, i < n", "fdiv": "x, y", "flip": "x", "floor": "x", "fma": "x, y, x",
    "full": "(16,), 1.0, tl.float32", "gather": "x, j, 0", "histogram": "j, 16",
    "inline_asm_elementwise": "'mov.b32 $0, $1;', '=r,r', [j], dtype=(tl.int32, tl.float32), is_pure=True, pack=1",
    "interleave": "x, y", "join": "x, y", "load": "F32 + i, mask=i < n, other=0.0, cache_modifier='.ca', eviction_policy='evict_first', volatile=True",
    "load_tensor_descriptor": (DESC, "D, [0, 0]"), "log": "x", "log2": "x",
    "make_block_ptr": "F32, (n, 16), (16, 1), (0, 0), (16, 16), (1, 0)",
    "make_tensor_descriptor": "F32, [n, 16], [16, 1], [16, 16], padding_option='nan'", "map_elementwise": "relu, x",
    "max": "m, 1, return_indices=True", "max_constancy": "i, 16", "max_contiguous": "i, B", "maximum": "x, y", "min": "m, 1",
    "minimum": "x, y, propagate_nan=tl.PropagateNan.ALL", "mul": "x, y", "multiple_of": "n * B, B", "num_programs": "0",
    "pair_uniform_to_normal": "x, y", "permute": "m, (1, 0)", "philox": "n, u, u, u, u", "philox_impl": "u, u, u, u, u, u",
    "pointer_type": "tl.float32", "program_id": "0", "rand": "n, i", "rand4x": "n, i", "randint": "n, l", "randint4x": "n, i",
    "randn": "n, i", "randn4x": "n, i", "ravel": "m", "reduce": "(x, y), 0, pair", "reduce_or": "j, 0",
    "reshape": "m, (256,)", "rsqrt": "x", "sigmoid": "x", "sin": "x", "softmax": "x", "sort": "x, descending=True", "split": "tl.join(x, y)",
    "sqrt": "x", "sqrt_rn": "x", "squeeze": "x[None, :], 0", "static_assert": "B == 16, 'text'", "static_print": "B",
    "store": "F32 + i, x, mask=i < n, cache_modifier='.wb'", "store_tensor_descriptor": (DESC, "D, [0, 0], m"), "str_to_ty": "'fp32', None",
    "sub": "x, y", "sum": "m, keep_dims=True", "swizzle2d": "n, n, n, n, 2", "to_tensor": "3", "topk": "x, 4", "trans": "m",
    "uint_to_uniform_float": "u", "umulhi": "u, u", "unsqueeze": "x, 0", "view": "m, (256,)", "where": "i < n, x, y",
    "xor_sum": "j, 0", "zeros": "(16,), tl.float32", "zeros_like": "x",
}
CALLS["reduce"] = "x, 0, plus"
# Names that are no functions: how they are used.
USES = {
    "PropagateNan": "tl.maximum(x, y, propagate_nan=tl.PropagateNan.NONE)",
    "TRITON_MAX_TENSOR_NUMEL": "tl.TRITON_MAX_TENSOR_NUMEL", "const": "F32", "constexpr_type": "isinstance(B, tl.constexpr)",
    "pi32_t": "(I32 + i).to(tl.pi32_t)", "slice": "tl.slice(0, 16, 1)", "tensor": "isinstance(x, tl.tensor)", "tuple": "tl.tuple((x, y))",
    "tensor_descriptor": "isinstance(x, tl.tensor_descriptor)", "tensor_descriptor_type": "x", "tuple_type": "x", "range": "x", "static_range": "x",
    "void": "tl.void",
}
LOOPS = {"range": "for q in tl.range(0, n, 1, num_stages=2, loop_unroll_factor=2, flatten=True, disable_licm=True):\n        x += y",
         "static_range": "for q in tl.static_range(0, 4, 2):\n        x += y"}
METHODS = {
    "T": "m.T", "abs": "x.abs()", "advance": (POINTER, "p.advance((0, 16))"), "argmax": "x.argmax(0)", "argmin": "x.argmin(0)",
    "associative_scan": "x.associative_scan(0, plus)", "atomic_add": "(F32 + i).atomic_add(x)", "atomic_and": "(I32 + i).atomic_and(j)",
    "atomic_cas": "(I32 + i).atomic_cas(j, j)", "atomic_load": "(I32 + i).atomic_load()", "atomic_max": "(I32 + i).atomic_max(j)",
    "atomic_min": "(I32 + i).atomic_min(j)", "atomic_or": "(I32 + i).atomic_or(j)", "atomic_poll": "I32.atomic_poll(1)",
    "atomic_store": "(I32 + i).atomic_store(j)", "atomic_xchg": "(I32 + i).atomic_xchg(j)", "atomic_xor": "(I32 + i).atomic_xor(j)",
    "broadcast_to": "x[None, :].broadcast_to(16, 16)", "cast": "x.cast(tl.float16)", "cdiv": "n.cdiv(16)", "ceil": "x.ceil()", "cos": "x.cos()",
    "cumprod": "x.cumprod(0)", "cumsum": "x.cumsum(0)", "erf": "x.erf()", "exp": "x.exp()", "exp2": "x.exp2()", "expand_dims": "x.expand_dims(0)",
    "flip": "x.flip()", "floor": "x.floor()", "gather": "x.gather(j, 0)", "histogram": "j.histogram(16)", "item": "tl.sum(m, 0).sum(0, keep_dims=True).item()",
    "log": "x.log()", "log2": "x.log2()", "logical_and": "(i < n).logical_and(i > 0)", "logical_or": "(i < n).logical_or(i > 0)",
    "max": "x.max(0)", "min": "x.min(0)", "permute": "m.permute(1, 0)", "ravel": "m.ravel()", "reduce": "x.reduce(0, plus)", "reduce_or": "j.reduce_or(0)",
    "reshape": "m.reshape(256)", "rsqrt": "x.rsqrt()", "sigmoid": "x.sigmoid()", "sin": "x.sin()", "softmax": "x.softmax()", "sort": "x.sort()",
    "split": "tl.join(x, y).split()", "sqrt": "x.sqrt()", "sqrt_rn": "x.sqrt_rn()", "store": "(F32 + i).store(x)", "sum": "x.sum(0)", "to": "x.to(tl.int32)",
    "trans": "m.trans()", "view": "m.view(256)", "xor_sum": "j.xor_sum(0)",
}
DESCRIPTOR = {
    "load": (DESC, "D.load([0, 0])"), "store": (DESC, "D.store([0, 0], m)"), "gather": (ROWS, "D.gather(j, 0)"), "scatter": (ROWS, "D.scatter(m, j, 0)"),
    "atomic_add": (DESC, "D.atomic_add([0, 0], m)"), "atomic_and": (INTS, "D.atomic_and([0, 0], m.to(tl.uint32))"),
    "atomic_or": (INTS, "D.atomic_or([0, 0], m.to(tl.uint32))"), "atomic_xor": (INTS, "D.atomic_xor([0, 0], m.to(tl.uint32))"),
    "atomic_max": (INTS, "D.atomic_max([0, 0], m.to(tl.uint32))"), "atomic_min": (INTS, "D.atomic_min([0, 0], m.to(tl.uint32))"),
    "block_shape": (DESC, "D.block_shape"), "dtype": (DESC, "D.dtype"), "block_type": (DESC, "D.block_type"),
}
EXTRA = {"gdc_launch_dependents", "gdc_wait", "globaltimer", "smid", "memrealtime"}
TARGET = {"cuda_capability_geq": "9, 0"}


def unsupported():
    return set(re.findall(r'^UNSUPPORTED\("([^"]+)"', UNSUPPORTED.read_text(), re.M))


def lower(tmp_path, snippet):
    statements, expression = snippet if isinstance(snippet, tuple) else ("", snippet)
    body = "".join(f"    {line}\n" for line in (statements + "r = " + expression).splitlines())
    return lower_text(tmp_path, PRELUDE + body)


def lower_text(tmp_path, text):
    file = tmp_path / "k.py"
    file.write_text(text)
    done = subprocess.run([BUILD / "bin" / "tilewright-lower", file, "k", *ARGUMENTS], capture_output=True, text=True, timeout=20)
    return done.returncode, done.stdout, done.stderr


def public(module):
    return sorted(n for n in dir(module) if not n.startswith("_"))


def answered(name, calls, spelled):
    """The snippet for a name; None if Unsupported.def lists it."""
    if name in unsupported():
        return None
    call = calls[name]
    return (call[0], f"{spelled}({call[1]})") if isinstance(call, tuple) else f"{spelled}({call})"


def check(tmp_path, name, snippet, refused_as):
    if snippet is None:
        code, _, error = lower(tmp_path, refused_as)
        assert code == 1 and "[lower.unsupported]" in error and "^" in error, error
    else:
        code, _, error = lower(tmp_path, snippet)
        assert code == 0, error


LANGUAGE = [n for n in public(tl) if not isinstance(getattr(tl, n), type(os))]


@pytest.mark.parametrize("name", LANGUAGE)
def test_name_of_the_language(tmp_path, name):
    if isinstance(getattr(tl, name), tl.dtype) and name != "void" and name != "pi32_t":
        snippet = f"x.to(tl.{name})" if getattr(tl, name).primitive_bitwidth > 1 else f"j.to(tl.{name})"
        if name in ("float8e4b15", "float8e4b8", "float8e5b16"):
            snippet = f"tl.full((16,), 1.0, tl.{name})"
        check(tmp_path, name, snippet, None)
    elif name in LOOPS:
        code, _, error = lower_text(tmp_path, PRELUDE + "    " + LOOPS[name] + "\n    tl.store(F32 + i, x)\n")
        assert code == 0, error
    elif name in USES:
        check(tmp_path, name, USES[name], None)
    else:
        check(tmp_path, name, answered(name, CALLS, f"tl.{name}"), f"tl.{name}(x)")


@pytest.mark.parametrize("name", public(tl.tensor))
def test_method_of_a_tensor(tmp_path, name):
    check(tmp_path, name, METHODS[name], None)


@pytest.mark.parametrize("name", public(tl.core.tensor_descriptor))
def test_method_of_a_descriptor(tmp_path, name):
    check(tmp_path, name, DESCRIPTOR[name], None)


@pytest.mark.parametrize("name", [n for n in public(tl.math) if n not in ("List", "T", "core", "wraps")])
def test_name_of_math(tmp_path, name):
    check(tmp_path, name, answered(name, CALLS, f"tl.math.{name}"), None)


@pytest.mark.parametrize("module,name", [(m, n) for m in (cuda, hip) for n in public(m) if callable(getattr(m, n))])
def test_name_of_a_target(tmp_path, module, name):
    spelled = f"tl.extra.{module.__name__.rsplit('.', 1)[-1]}.{name}"
    snippet = None if name in unsupported() else f"{spelled}()" if name in EXTRA else KeyError(name)
    check(tmp_path, name, snippet, f"{spelled}()")


@pytest.mark.parametrize("name", [n for n in public(tl.target_info) if n not in ("constexpr_function", "driver")])
def test_name_of_target_info(tmp_path, name):
    call = f"tl.target_info.{name}({TARGET.get(name, '')})"
    check(tmp_path, name, None if f"target_info.{name}" in unsupported() else call, call)


def library_signatures():
    """(name, operand dtypes, result dtype) of each function, as the libraries' own tables have them."""
    found = set()
    for module in (cuda.libdevice, hip.libdevice):
        for function in ast.parse(Path(module.__file__).read_text()).body:
            if not isinstance(function, ast.FunctionDef):
                continue
            isBool = "int1" in ast.unparse(function)
            for table in (n for n in ast.walk(function) if isinstance(n, ast.Dict)):
                for key, value in zip(table.keys, table.values):
                    operands = tuple(e.args[0].value for e in key.elts)
                    result = value.elts[1].args[0].value
                    found.add((function.name, operands, "int1" if isBool else result))
    return sorted(found)


OPERANDS = {"fp32": "x", "fp64": "d", "int32": "j", "int64": "l", "uint32": "u", "uint64": "w"}


@pytest.mark.parametrize("name", public(libdevice))
def test_function_of_libdevice_returns_what_the_library_declares(tmp_path, name):
    signatures = [s for s in library_signatures() if s[0] == name]
    assert signatures, "no table of either library has it"
    lines = ""
    for at, (_, operands, result) in enumerate(signatures):
        if isinstance(getattr(hip.libdevice, name, None), type(None)) and result is None:
            continue
        arguments = ", ".join(OPERANDS[o] for o in operands)
        lines += f"    r{at} = libdevice.{name}({arguments})\n"
        dtypes = {s[2] for s in signatures if s[1] == operands}
        same = " or ".join(f"r{at}.dtype == tl.{ {'fp32': 'float32', 'fp64': 'float64'}.get(t, t)}" for t in sorted(dtypes))
        lines += f"    tl.static_assert({same})\n"
    code, _, error = lower_text(tmp_path, PRELUDE + lines)
    assert code == 0, error


@pytest.mark.parametrize("name", sorted(unsupported()))
def test_name_that_is_not_supported_is_refused_with_line_and_caret(tmp_path, name):
    code, _, error = lower(tmp_path, f"tl.core.{name}(x)" if "." not in name else f"tl.{name}(x)")
    line = len(PRELUDE.splitlines()) + 1
    assert code == 1 and f"k.py:{line}:9: error: " in error and "is not supported: " in error and "[lower.unsupported]" in error, error
    assert re.search(r"^ +\^~+$", error, re.M), error


def test_functions_of_triton_itself(tmp_path):
    for snippet in ("triton.cdiv(B, 3)", "triton.next_power_of_2(B)"):
        check(tmp_path, snippet, snippet, None)
    assert {"cdiv", "next_power_of_2"} <= set(dir(triton))


@pytest.mark.parametrize("snippet", [
    "ext.extract_slice(m, (0, n), (16, 3), (1, 1))", "ext.insert_slice(m, tl.zeros((4, 4), tl.float32), [n, 0], [4, 4], [1, 2])",
    "ext.get_element(x, (n,))", "ext.compile_hint(m, 'dot_pad_only_k')", "ext.multibuffer(m, 2)", "ext.sort(x, -1, True)", "ext.flip(x, -1)",
    "ext.cast(j, tl.int8, overflow_mode='saturate')", "ext.sync_block_all('all', 0)", "ext.sync_block_set('cube', 'vector', 1)", "ext.sub_vec_id()",
    "ext.gather_out_to_ub(F32, j, 64, 0, (1,), (16,), (0,))", "ext.scatter_ub_to_out(F32, x, j, 64, 0, (1,), (16,), (0,))",
    "ext.index_put(F32, j, m, 0, 16, (16, 16), (0, 0), (16, 1))", "tl.extract_slice(x, [0], [8], [2])",
    "ext.atan2(x, y)", "ext.isfinited(d)", "ext.finitef(x)",
])
def test_extensions_of_ascend(tmp_path, snippet):
    text = PRELUDE.replace("from triton.language.extra import libdevice", "import triton.language.extra.cann.extension as ext")
    code, _, error = lower_text(tmp_path, text + "    r = " + snippet + "\n")
    assert code == 0, error
