"""Small kernels whose lowering is compared with Triton's own IR (tests/python/test_lowering_oracle.py)."""
import triton
import triton.language as tl

FOUR = tl.constexpr(4)
SCALE = tl.constexpr(2.5)


@triton.jit
def scaled(x, y, K: tl.constexpr = 2, *, sign=1.0):
    if K == 2:
        return x * sign, y
    else:
        return x + y, x


@triton.jit
def early(x, lo):
    if lo > 3:
        return x + 1
    return x - 1


@triton.jit
def plus(a, b):
    return a + b


@triton.jit
def welford(m1, v1, w1, m2, v2, w2):
    d = m2 - m1
    w = w1 + w2
    return m1 + d * w2 / w, v1 + v2 + d * d * w1 * w2 / w, w


@triton.jit
def helpers(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, i < n, 0.0)
    a, b = scaled(v, v, sign=SCALE)
    c, d = scaled(v, v, K=3)
    e = early(a + b + c + d, n)
    s = tl.reduce(e, 0, plus)
    m, var, w = tl.reduce((e, e, e), 0, welford)
    z = tl.associative_scan(e, 0, plus)
    tl.store(x + i, z * s + m + var + w, i < n)


@triton.jit
def control(x, n, FLAG: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    if pid >= n:
        return
    acc = tl.zeros([B], dtype=tl.float32)
    count = 0
    for k in range(pid, n, tl.num_programs(0)):
        if FLAG:
            count += k
        if k % 2 == 0:
            acc += tl.load(x + k * B + tl.arange(0, B))
        else:
            acc -= 1.0
    for j in tl.static_range(FOUR):
        acc += j
    while count > 0:
        count = count // 2
    y = acc if B > 64 else -acc
    if count == 0:
        z = y * 2
    else:
        z = y
    for k in range(n - 1, -1, -1):
        acc += k
    tl.store(x + tl.arange(0, B), z + acc)


@triton.jit
def nested(x, n, B: tl.constexpr):
    total = 0
    acc = tl.zeros((B,), tl.float32)
    for i in range(n):
        row = tl.zeros((B,), tl.float32)
        for j in tl.range(i, n, 2, num_stages=2):
            row += tl.load(x + i * n + j + tl.arange(0, B))
            total += j
        acc += row
    tl.store(x + tl.arange(0, B), acc + total)


@triton.jit
def matmul(a, b, c, K, sa, sb, sc, M: tl.constexpr, N: tl.constexpr, KB: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    d = tl.arange(0, KB)
    pa = a + m[:, None] * sa + d[None, :]
    pb = b + d[:, None] * sb + n[None, :]
    acc = tl.zeros((M, N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, KB)):
        acc = tl.dot(tl.load(pa, mask=d[None, :] < K - k * KB, other=0.0), tl.load(pb), acc)
        pa += KB
        pb += KB * sb
    acc2 = tl.dot(tl.load(pa), tl.load(pb), out_dtype=tl.float16)
    tl.store(c + m[:, None] * sc + n[None, :], (acc + acc2).to(c.dtype.element_ty))


@triton.jit
def promotions(f16, f32, i8, i32, i64, u8, flag, eps, n):
    a = tl.load(f16)
    b = tl.load(f32)
    c = tl.load(i8)
    d = tl.load(i32)
    e = tl.load(i64)
    f = tl.load(u8)
    g = tl.load(flag)
    tl.store(f32, a * 2.5 + b)
    tl.store(f16, a * 2 + c)
    tl.store(f32, a * eps)
    tl.store(f32, c / d)
    tl.store(i64, c * d + e)
    tl.store(i32, f + 1)
    tl.store(i32, f * d)
    tl.store(f16, a / 3)
    tl.store(f32, e / a)
    tl.store(flag, g & (a > 0))
    tl.store(i32, (d << 2) >> 1)
    tl.store(i64, -e % 7)
    tl.store(f32, tl.where(g, 0, a))
    tl.store(f32, tl.maximum(c, b) + tl.minimum(a, 1.0))
    tl.store(i32, ~d ^ n)
    tl.store(f16, n)
    tl.store(u8, not g)


@triton.jit
def reductions(x, B: tl.constexpr, C: tl.constexpr):
    v = tl.load(x + tl.arange(0, B)[:, None] * C + tl.arange(0, C)[None, :])
    m, i = tl.max(v, 1, return_indices=True)
    s = tl.sum(v, axis=0, keep_dims=True)
    h = tl.sum(v.to(tl.int8), 1)
    p = tl.sum(v)
    q = tl.softmax(v.to(tl.float32), 1)
    r = tl.argmin(v, 0)
    u = tl.cumsum(v, 1)
    o = tl.xor_sum(i, 0)
    tl.store(x + tl.arange(0, B), m + i + h + p + o)
    tl.store(x + tl.arange(0, C), r)
    tl.store(x + tl.arange(0, B)[:, None] * C + tl.arange(0, C)[None, :], s + q + u)


@triton.jit
def shapes(x, B: tl.constexpr):
    v = tl.load(x + tl.arange(0, B))
    m = tl.reshape(v, (B // 4, 4))
    t = tl.trans(m)
    a, b = tl.split(tl.reshape(v, (B // 2, 2)))
    j = tl.join(a, b)
    i = tl.interleave(a, b)
    w = tl.broadcast_to(m[:, :, None], (B // 4, 4, 2)).permute(2, 0, 1)
    e = tl.expand_dims(v, (0, -1))
    c = tl.cat(a, b, can_reorder=True)
    g = tl.gather(v, tl.arange(0, B), 0)
    tl.store(x + tl.arange(0, B), tl.sum(tl.sum(w, 0), 1).sum() + i + c + g + e.reshape(B))
    tl.store(x + tl.arange(0, 4)[:, None] * B + tl.arange(0, B // 4)[None, :], t)
    tl.store(x + tl.arange(0, B // 2)[:, None] + tl.arange(0, 2), j)


@triton.jit
def atomics(x, i, n, B: tl.constexpr):
    o = tl.arange(0, B)
    tl.atomic_add(x + o, 1.0, mask=o < n)
    old = tl.atomic_max(i + o, o, sem="relaxed")
    tl.atomic_cas(i, 0, n)
    tl.atomic_xchg(i + o, old)


@triton.jit
def scalars(x, n, m, B: tl.constexpr):
    q = (n + B - 1) // B
    r = q % 3
    low = min(q, m, 7)
    cond = (n > m) and (m > 0) or r == 0
    if cond:
        low = low + 1
    elif r == 1:
        low = low - 1
    flag = B > 16
    tl.store(x + low, tl.load(x + q) * r if n > 0 else 1.0)
    if flag:
        tl.store(x + r, 1.0)


@triton.jit
def descriptors(a, c, M, N, BM: tl.constexpr, BN: tl.constexpr):
    src = tl.make_tensor_descriptor(a, [M, N], [N, 1], [BM, BN])
    dst = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, N, BN):
        acc += src.load([0, k])
    dst.store([0, 0], acc)
