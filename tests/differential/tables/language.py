"""The language around the operations: control flow, helpers, constexprs, tuples, random numbers."""
from case import Array, zeros
from tables.memory import handwritten

KERNELS = '''
@triton.jit
def square(x):
    return x * x

@triton.jit
def affine(x, scale=2.0, shift: tl.constexpr = 1):
    return x * scale + shift

@triton.jit
def both(x, y):
    return x + y, x - y

@triton.jit
def nested_call(x):
    a, b = both(square(x), x)
    return affine(a, shift=3) - b

@triton.jit
def pick(x, KIND: tl.constexpr):
    if KIND == "relu":
        return tl.maximum(x, 0.0)
    elif KIND == "square":
        return square(x)
    else:
        return x

@triton.jit
def sign_of(n):
    if n > 0:
        return 1
    elif n < 0:
        return -1
    return 0

@triton.jit
def apply_fn(x, f: tl.constexpr):
    return f(x) + 1

@triton.jit
def calls(a, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, nested_call(tl.load(a + i)))

@triton.jit
def string_constexpr(a, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i)
    tl.store(out + i, pick(x, "relu") + pick(x, KIND="square") * 10 + pick(x, "none") * 100)

@triton.jit
def function_argument(a, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, apply_fn(tl.load(a + i), square))

@triton.jit
def early_helper(out, n):
    tl.store(out, sign_of(n))
    tl.store(out + 1, sign_of(-n))
    tl.store(out + 2, sign_of(n - n))

@triton.jit
def early_return(a, n):
    pid = tl.program_id(0)
    if pid >= n:
        return
    tl.store(a + pid, pid + 10)

@triton.jit
def if_else(a, out, n):
    x = tl.load(a)
    if x > 0 and n > 3:
        y = x * 2
    elif x == 0 or n < 0:
        y = x - 1
    else:
        y = -x
    tl.store(out, y)

@triton.jit
def if_carries(out, n):
    x = 0
    y = 1
    if n % 2 == 0:
        x = n
    else:
        y = n
    tl.store(out, x)
    tl.store(out + 1, y)

@triton.jit
def nested_if(out, a, b):
    r = 0
    if a > b:
        if a > 2 * b:
            r = 2
        else:
            r = 1
    else:
        if not (b > 2 * a):
            r = -1
        else:
            r = -2
    tl.store(out, r)

@triton.jit
def for_accumulates(a, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    acc = tl.zeros((N,), tl.float32)
    count = 0
    for k in range(n):
        acc += tl.load(a + k * N + i)
        count += 1
    tl.store(out + i, acc * count)

@triton.jit
def for_steps(out, n):
    s = 0
    for k in range(3, n, 4):
        s = s * 3 + k
    tl.store(out, s)
    t = 0
    for k in range(n, 0, -3):
        t = t * 2 + k
    tl.store(out + 1, t)
    u = 7
    for k in range(5, 5):
        u = k
    tl.store(out + 2, u)

@triton.jit
def for_nested(out, n):
    s = 0
    t = 1
    for i in range(n):
        for j in range(i, n):
            s += i * j
            t, s = s - t, t + s
    tl.store(out, s)
    tl.store(out + 1, t)

@triton.jit
def for_if(out, n):
    odd = 0
    even = 0
    for k in tl.range(0, n, num_stages=2):
        if k % 2 == 1:
            odd += k
        else:
            even -= k
    tl.store(out, odd)
    tl.store(out + 1, even)

@triton.jit
def while_collatz(out, n):
    steps = 0
    x = n
    while x != 1:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        steps += 1
    tl.store(out, steps)

@triton.jit
def while_and(out, n):
    i = 0
    s = 0
    while (i < n) & (s < 50):
        s += i * i
        i += 1
    tl.store(out, s)
    tl.store(out + 1, i)

@triton.jit
def while_nested(out, n):
    total = 0
    i = n
    while i > 0:
        j = i
        while j > 0:
            total += j
            j -= 2
        i -= 1
    tl.store(out, total)

@triton.jit
def gcd_loop(out, a, b):
    while b != 0:
        t = a % b
        a = b
        b = t
    tl.store(out, a)

@triton.jit
def static_loop(a, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i)
    for k in tl.static_range(4):
        if k % 2 == 0:
            x = x * 2 + k
        else:
            x = x - k
    for k in tl.static_range(6, 0, -2):
        x += k
    tl.store(out + i, x)

@triton.jit
def constexpr_if(a, out, N: tl.constexpr, FLAG: tl.constexpr, MODE: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i)
    if FLAG and N > 4:
        x = x + 1
    if MODE is None:
        x = x * 2
    if MODE is not None and MODE > 3:
        x = x * 5
    y = x if FLAG else -x
    z = y * (3 if N in (8, 16) else 4)
    tl.store(out + i, z)

@triton.jit
def constexpr_math(out, N: tl.constexpr, M: tl.constexpr):
    A: tl.constexpr = N * 2 + M % 3
    B: tl.constexpr = (A + 3) // 4 if A > M else M
    C: tl.constexpr = min(A, B) + max(N, M)
    D = -(-N // M)
    tl.store(out, A)
    tl.store(out + 1, B)
    tl.store(out + 2, C)
    tl.store(out + 3, D)
    tl.store(out + 4, N ** 2 - (M << 2) + (N >> 1) + (N & 6) + (N | 1) + (N ^ M))
    tl.store(out + 5, -7 // 2)
    tl.store(out + 6, -7 % 3)
    tl.store(out + 7, tl.cdiv(N, M) + tl.next_power_of_2(M) if False else tl.cdiv(N, M))

@triton.jit
def runtime_division(out, a, b):
    tl.store(out, a // b)
    tl.store(out + 1, a % b)
    tl.store(out + 2, (-a) // b)
    tl.store(out + 3, (-a) % b)
    tl.store(out + 4, tl.cdiv(a, b))
    tl.store(out + 5, a / b * 1000)

@triton.jit
def tuples(a, out, N: tl.constexpr):
    i = tl.arange(0, N)
    pair = (tl.load(a + i), 3)
    x, k = pair
    triple = both(x, pair[0] * 2) + (k,)
    tl.store(out + i, triple[0] * triple[1] + triple[2] + len(triple))

@triton.jit
def swaps(out, a, b):
    a, b = b, a + b
    a, b = b, a
    (c, d), e = (a * 2, b * 2), a - b
    tl.store(out, c)
    tl.store(out + 1, d)
    tl.store(out + 2, e)

@triton.jit
def augmented(a, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i)
    x += 3
    x *= 2
    x -= i
    x //= 3
    x %= 7
    x <<= 2
    x ^= 5
    x |= 8
    x &= 61
    x >>= 1
    tl.store(out + i, x)

@triton.jit
def comparisons_chain(a, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i)
    m = (x > 1) & (x <= 5) | (i == n)
    tl.store(out + i, m.to(tl.int32) * 3 + (~m).to(tl.int32))

@triton.jit
def conditional_value(a, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    scale = 2.0 if n > 3 else 0.5
    shift = n if n < 0 else 1
    tl.store(out + i, tl.load(a + i) * scale + shift)

@triton.jit
def min_max_builtin(out, a, b):
    tl.store(out, min(a, b))
    tl.store(out + 1, max(a, b, 4))
    tl.store(out + 2, tl.abs(a - b))
    tl.store(out + 3, tl.minimum(a, 3) + tl.maximum(b, 3))

@triton.jit
def wrap_i32(out, n):
    x = n
    for k in range(12):
        x = x * 1664525 + 1013904223
        tl.store(out + k, x)

@triton.jit
def wide_i64(out, n):
    x = n.to(tl.int64) * 4000000000
    tl.store(out, x + 1)
    tl.store(out + 1, x // 7)
    tl.store(out + 2, x >> 3)

@triton.jit
def bool_arguments(out, n, FLAG):
    if FLAG:
        tl.store(out, n)
    else:
        tl.store(out, -n)
    tl.store(out + 1, FLAG)

@triton.jit
def none_argument(a, b, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i)
    if b is not None:
        x += tl.load(b + i)
    tl.store(out + i, x)

@triton.jit
def integer_one(out, stride, n):
    tl.store(out + 3 * stride, n)
    tl.store(out + n * stride, stride)

@triton.jit
def grouped_order(out, M, N, G: tl.constexpr):
    pid = tl.program_id(0)
    per = G * N
    group = pid // per
    first = group * G
    size = min(M - first, G)
    m = first + (pid % per) % size
    n = (pid % per) // size
    tl.store(out + pid, m * 100 + n)

@triton.jit
def persistent(a, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    for block in range(tl.program_id(0), tl.cdiv(n, N), tl.num_programs(0)):
        p = block * N + i
        tl.store(out + p, tl.load(a + p, mask=p < n) + tl.program_id(0), mask=p < n)

@triton.jit
def hints(a, out, n, N: tl.constexpr):
    i = tl.max_contiguous(tl.multiple_of(tl.arange(0, N), N), N)
    tl.assume(n > 0)
    tl.static_assert(N >= 8, "at least eight")
    tl.device_assert(n > 0, "positive")
    tl.debug_barrier()
    tl.store(out + i, tl.load(a + i) * n)

@triton.jit
def dtype_queries(a, b, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i).to(b.dtype.element_ty)
    y = x.to(tl.float32) if x.dtype == tl.float16 else x.to(tl.float32) * 2
    tl.store(out + i, y + x.dtype.primitive_bitwidth)
    tl.store(b + i, x)

@triton.jit
def random_integers(out, seed, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.randint(seed, i))

@triton.jit
def random_four(out, seed, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b, c, d = tl.randint4x(seed, i)
    tl.store(out + i, a)
    tl.store(out + N + i, b)
    tl.store(out + 2 * N + i, c)
    tl.store(out + 3 * N + i, d)

@triton.jit
def random_uniform(out, seed, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.rand(seed, i))

@triton.jit
def random_normal(out, seed, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.randn(seed, i))

@triton.jit
def dropout(a, out, seed, p, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    keep = tl.rand(seed, i) > p
    tl.store(out + i, tl.where(keep, tl.load(a + i) / (1 - p), 0.0))

@triton.jit
def philox_rounds(out, seed, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.randint(seed, i, n_rounds=7))

@triton.jit
def flash_attention_like(q, k, v, out, n, scale, M: tl.constexpr, D: tl.constexpr):
    rows = tl.arange(0, M)
    d = tl.arange(0, D)
    x = tl.load(q + rows[:, None] * D + d[None, :])
    top = tl.full((M,), float("-inf"), tl.float32)
    total = tl.zeros((M,), tl.float32)
    acc = tl.zeros((M, D), tl.float32)
    for start in range(0, n, M):
        c = start + tl.arange(0, M)
        y = tl.load(k + c[None, :] * D + d[:, None], mask=c[None, :] < n, other=0.0)
        s = tl.dot(x, y, input_precision="ieee") * scale
        s = tl.where(c[None, :] < n, s, float("-inf"))
        s = tl.where(rows[:, None] >= c[None, :], s, float("-inf"))
        new = tl.maximum(top, tl.max(s, 1))
        alpha = tl.exp(top - new)
        p = tl.exp(s - new[:, None])
        total = total * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None] + tl.dot(p, tl.load(v + c[:, None] * D + d[None, :], mask=c[:, None] < n, other=0.0), input_precision="ieee")
        top = new
    tl.store(out + rows[:, None] * D + d[None, :], acc / total[:, None])

@triton.jit
def recurrence(a, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    h = tl.zeros((N,), tl.float32)
    for t in range(n):
        h = h * 0.5 + tl.load(a + t * N + i)
        tl.store(out + t * N + i, h)
'''

F = [((k * 7) % 11 - 5) / 2 for k in range(512)]
ONE = (1, )
out32, outf = zeros("i32", 16), zeros("f32", 16)
ARGUMENTS = {
    "calls": (dict(a=Array("f32", F[:16]), out=outf, N=16), ONE), "string_constexpr": (dict(a=Array("f32", F[:16]), out=outf, N=16), ONE),
    "function_argument": (dict(a=Array("f32", F[:16]), out=outf, N=16), ONE), "early_helper": (dict(out=out32, n=5), ONE),
    "early_return": (dict(a=out32, n=3), (6, )), "if_else": (dict(a=Array("i32", [4]), out=out32, n=5), ONE),
    "if_carries": (dict(out=out32, n=7), ONE), "nested_if": (dict(out=out32, a=5, b=4), ONE),
    "for_accumulates": (dict(a=Array("f32", F[:80]), out=outf, n=5, N=16), ONE), "for_steps": (dict(out=out32, n=20), ONE),
    "for_nested": (dict(out=out32, n=6), ONE), "for_if": (dict(out=out32, n=9), ONE), "while_collatz": (dict(out=out32, n=27), ONE),
    "while_and": (dict(out=out32, n=20), ONE), "while_nested": (dict(out=out32, n=7), ONE), "gcd_loop": (dict(out=out32, a=84, b=36), ONE),
    "static_loop": (dict(a=Array("i32", list(range(16))), out=out32, N=16), ONE),
    "constexpr_if": (dict(a=Array("i32", list(range(8))), out=out32, N=8, FLAG=True, MODE=None), ONE),
    "constexpr_math": (dict(out=out32, N=12, M=5), ONE), "runtime_division": (dict(out=zeros("f64", 6), a=17, b=5), ONE),
    "tuples": (dict(a=Array("f32", F[:16]), out=outf, N=16), ONE), "swaps": (dict(out=out32, a=3, b=5), ONE),
    "augmented": (dict(a=Array("i32", [k * 13 for k in range(16)]), out=out32, N=16), ONE),
    "comparisons_chain": (dict(a=Array("i32", list(range(16))), out=out32, n=9, N=16), ONE),
    "conditional_value": (dict(a=Array("f32", F[:16]), out=outf, n=5, N=16), ONE), "min_max_builtin": (dict(out=out32, a=2, b=9), ONE),
    "wrap_i32": (dict(out=out32, n=12345), ONE), "wide_i64": (dict(out=zeros("i64", 3), n=77), ONE),
    "bool_arguments": (dict(out=out32, n=5, FLAG=True), ONE), "none_argument": (dict(a=Array("f32", F[:16]), b=None, out=outf, N=16), ONE),
    "integer_one": (dict(out=out32, stride=1, n=5), ONE), "grouped_order": (dict(out=zeros("i32", 35), M=7, N=5, G=3), (35, )),
    "persistent": (dict(a=Array("i32", list(range(50))), out=zeros("i32", 50), n=50, N=8), (3, )),
    "hints": (dict(a=Array("f32", F[:16]), out=outf, n=3, N=16), ONE),
    "dtype_queries": (dict(a=Array("f32", F[:16]), b=zeros("f16", 16), out=outf, N=16), ONE),
    "random_integers": (dict(out=zeros("i32", 64), seed=1234, N=64), ONE), "random_four": (dict(out=zeros("i32", 64), seed=42, N=16), ONE),
    "random_uniform": (dict(out=zeros("f32", 64), seed=7, N=64), ONE), "random_normal": (dict(out=zeros("f32", 64), seed=7, N=64), ONE),
    "dropout": (dict(a=Array("f32", F[:64]), out=zeros("f32", 64), seed=99, p=0.25, N=16), (4, )),
    "philox_rounds": (dict(out=zeros("i32", 16), seed=5, N=16), ONE),
    "flash_attention_like": (dict(q=Array("f32", F[:256]), k=Array("f32", F[50:306]), v=Array("f32", F[9:265]), out=zeros("f32", 256), n=16, scale=0.25, M=16, D=16), ONE),
    "recurrence": (dict(a=Array("f32", F[:80]), out=zeros("f32", 80), n=5, N=16), ONE),
}  # yapf: disable
MORE = {"random_normal": dict(ulp=4, near=1e-6), "flash_attention_like": dict(ulp=64, near=1e-5)}


def cases():
    yield from handwritten(KERNELS, ARGUMENTS, **MORE)
