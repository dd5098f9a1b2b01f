"""Matrix products: dtypes, accumulators, batches, precisions; block pointers and descriptors."""
from case import Array, Case, is_float, zeros

DOT = """
@triton.jit
def {name}(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    {statement}
    tl.store(c + m[:, None] * N + n[None, :], z)
"""
STATEMENTS = {
    "plain": "z = tl.dot(x, y)", "acc": "z = tl.dot(x, y, tl.full((M, N), 2, {acc}))", "out": "z = tl.dot(x, y, out_dtype={acc})",
    "acc_add": "z = tl.full((M, N), 1, {acc})\n    z += tl.dot(x, y)", "twice": "z = tl.dot(x, y)\n    z = tl.dot(x, y, acc=z)",
    "trans": "z = tl.dot(x, tl.trans(tl.trans(y)))",
}  # yapf: disable


def matrix(dtype, size, seed):
    values = [((k * 5 + seed) % 9) - (4 if dtype[0] != "u" else 0) for k in range(size)]
    return [v / 4 for v in values] if is_float(dtype) else values


def dots():
    for dtype, acc, name in (("f32", "f32", "tl.float32"), ("f16", "f32", "tl.float32"), ("f16", "f16", "tl.float16"), ("i8", "i32", "tl.int32"),
                             ("f64", "f64", "tl.float64"), ("bf16", "f32", "tl.float32")):  # yapf: disable
        for label, statement in STATEMENTS.items():
            if acc == "f16" and label != "out" or dtype == "f64" and label == "out":
                continue
            if label == "out" and acc != "f16":
                continue
            for precision in ("", "ieee", "tf32") if dtype == "f32" and label in ("plain", "acc") else ("", ):
                text = statement.format(acc=name)
                if precision:
                    text = text.replace("(x, y", f'(x, y, input_precision="{precision}"', 1) if label == "plain" else text[:-1] + f', input_precision="{precision}")'
                case = f"dot_{label}_{dtype}_{acc}" + (f"_{precision}" if precision else "")
                known = {}
                if dtype == "bf16":
                    known = dict(expected={"c": product(label, matrix(dtype, 256, 1), matrix(dtype, 256, 2))}, why="Arithmetic on bf16")
                yield Case(case, DOT.format(name=case, statement=text),
                           dict(a=Array(dtype, matrix(dtype, 256, 1)), b=Array(dtype, matrix(dtype, 256, 2)), c=zeros(acc, 256), M=16, N=16, K=16),
                           **known)  # yapf: disable
    for dtype in ("f8e4m3", "f8e5m2"):
        case = f"dot_{dtype}"
        values = [v * 0.5 for v in matrix(dtype, 1024, 1)]
        yield Case(case, DOT.format(name=case, statement="z = tl.dot(x, y)"),
                   dict(a=Array(dtype, values), b=Array(dtype, values), c=zeros("f32", 1024), M=32, N=32, K=32))


def product(label, a, b):
    start = {"acc": 2.0, "acc_add": 1.0}.get(label, 0.0)
    return [start + sum(a[i * 16 + k] * b[k * 16 + j] for k in range(16)) * (2 if label == "twice" else 1) for i in range(16) for j in range(16)]


HANDWRITTEN = '''
@triton.jit
def dot_batched(a, b, c, B: tl.constexpr, M: tl.constexpr):
    i = tl.arange(0, B)[:, None, None] * (M * M) + tl.arange(0, M)[None, :, None] * M + tl.arange(0, M)[None, None, :]
    tl.store(c + i, tl.dot(tl.load(a + i), tl.load(b + i)))

@triton.jit
def matmul_tails(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    across = tl.cdiv(N, BN)
    m = pid // across * BM + tl.arange(0, BM)
    n = pid % across * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        x = tl.load(a + m[:, None] * K + (start + k)[None, :], mask=(m[:, None] < M) & ((start + k)[None, :] < K), other=0.0)
        y = tl.load(b + (start + k)[:, None] * N + n[None, :], mask=((start + k)[:, None] < K) & (n[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))

@triton.jit
def matmul_modulo(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = (tl.program_id(0) * BM + tl.arange(0, BM))
    n = (tl.program_id(1) * BN + tl.arange(0, BN))
    k = tl.arange(0, BK)
    pa = a + (m % M)[:, None] * K + k[None, :]
    pb = b + k[:, None] * N + (n % N)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(tl.cdiv(K, BK)):
        x = tl.load(pa, mask=k[None, :] < K - step * BK, other=0.0)
        y = tl.load(pb, mask=k[:, None] < K - step * BK, other=0.0)
        acc += tl.dot(x, y)
        pa += BK
        pb += BK * N
    tl.store(c + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))

@triton.jit
def block_pointers(a, out, rows, cols, M: tl.constexpr, N: tl.constexpr):
    p = tl.make_block_ptr(a, shape=(rows, cols), strides=(cols, 1), offsets=(1, 2), block_shape=(M, N), order=(1, 0))
    q = tl.make_block_ptr(out, shape=(rows, cols), strides=(cols, 1), offsets=(0, 0), block_shape=(M, N), order=(1, 0))
    tl.store(q, tl.load(p, boundary_check=(0, 1), padding_option="zero"), boundary_check=(0, 1))

@triton.jit
def block_pointer_loop(a, out, rows, cols, M: tl.constexpr, N: tl.constexpr):
    p = tl.make_block_ptr(a, (rows, cols), (cols, 1), (tl.program_id(0) * M, 0), (M, N), (1, 0))
    total = tl.zeros((M,), tl.float32)
    for _ in range(0, cols, N):
        total += tl.sum(tl.load(p, boundary_check=(0, 1), padding_option="zero"), 1)
        p = tl.advance(p, (0, N))
    m = tl.program_id(0) * M + tl.arange(0, M)
    tl.store(out + m, total, mask=m < rows)

@triton.jit
def block_pointer_nan(a, out, n, N: tl.constexpr):
    p = tl.make_block_ptr(a, (n,), (1,), (2,), (N,), (0,))
    tl.store(out + tl.arange(0, N), tl.load(p, boundary_check=(0,), padding_option="nan"))

@triton.jit
def block_pointer_transposed(a, out, rows, cols, M: tl.constexpr, N: tl.constexpr):
    p = tl.make_block_ptr(a, (cols, rows), (1, cols), (0, 0), (N, M), (0, 1))
    tl.store(out + tl.arange(0, N)[:, None] * M + tl.arange(0, M)[None, :], tl.load(p))

@triton.jit
def descriptors(a, out, rows, cols, M: tl.constexpr, N: tl.constexpr):
    s = tl.make_tensor_descriptor(a, [rows, cols], [cols, 1], [M, N])
    d = tl.make_tensor_descriptor(out, [rows, cols], [cols, 1], [M, N])
    for j in range(0, cols, N):
        d.store([tl.program_id(0) * M, j], s.load([tl.program_id(0) * M, j]) * 2.0)

@triton.jit
def descriptor_tail(a, out, rows, cols, M: tl.constexpr, N: tl.constexpr):
    s = tl.make_tensor_descriptor(a, [rows, cols], [cols, 1], [M, N])
    x = tl.load_tensor_descriptor(s, [2, 4])
    tl.store(out + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], x)
'''
F = [((k * 7) % 11 - 5) / 2 for k in range(1024)]
ARGUMENTS = {
    "dot_batched": (dict(a=Array("f32", F[:512]), b=Array("f32", F[100:612]), c=zeros("f32", 512), B=2, M=16), (1, )),
    "matmul_tails": (dict(a=Array("f32", F[:19 * 21]), b=Array("f32", F[:21 * 23]), c=zeros("f32", 19 * 23), M=19, N=23, K=21, BM=16, BN=16, BK=16), (4, )),
    "matmul_modulo": (dict(a=Array("f16", F[:19 * 21]), b=Array("f16", F[:21 * 23]), c=zeros("f32", 19 * 23), M=19, N=23, K=21, BM=16, BN=16, BK=16), (2, 2)),
    "block_pointers": (dict(a=Array("f32", F[:54]), out=zeros("f32", 54), rows=6, cols=9, M=8, N=8), (1, )),
    "block_pointer_loop": (dict(a=Array("f32", F[:54]), out=zeros("f32", 6), rows=6, cols=9, M=4, N=4), (2, )),
    "block_pointer_nan": (dict(a=Array("f32", F[:11]), out=zeros("f32", 16), n=11, N=16), (1, )),
    "block_pointer_transposed": (dict(a=Array("i32", list(range(32))), out=zeros("i32", 32), rows=4, cols=8, M=4, N=8), (1, )),
    "descriptors": (dict(a=Array("f32", F[:96]), out=zeros("f32", 96), rows=8, cols=12, M=4, N=4), (2, )),
    "descriptor_tail": (dict(a=Array("f32", F[:40]), out=zeros("f32", 32), rows=5, cols=8, M=4, N=8), (1, )),
}  # yapf: disable


def block(rows, cols, first, shape, padding=0.0):
    """What a block of F as a rows x cols matrix holds; outside is padding."""
    inside = lambda r, c: F[r * cols + c] if r < rows and c < cols else padding
    return [[inside(first[0] + r, first[1] + c) for c in range(shape[1])] for r in range(shape[0])]


def written(rows, cols, values):
    """A rows x cols matrix of zeros with a block stored at its origin."""
    return [values[r][c] if r < len(values) and c < len(values[0]) else 0.0 for r in range(rows) for c in range(cols)]


# Triton 3.9 has no block pointers any more; this is what those of earlier versions did.
BLOCKS = {
    "block_pointers": {"out": written(6, 9, block(6, 9, (1, 2), (8, 8)))},
    "block_pointer_loop": {"out": [sum(F[r * 9:r * 9 + 9]) for r in range(6)]},
    "block_pointer_nan": {"out": [F[k + 2] if k + 2 < 11 else float("nan") for k in range(16)]},
    "block_pointer_transposed": {"out": [r * 8 + c for c in range(8) for r in range(4)]},
}  # yapf: disable
MORE = {name: dict(expected=expected, why="Block pointers") for name, expected in BLOCKS.items()}


def cases():
    from tables.memory import handwritten
    yield from dots()
    yield from handwritten(HANDWRITTEN, ARGUMENTS, **MORE)
