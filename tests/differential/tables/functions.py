"""Functions of one, two and three floats. numpy's are within an ulp or two of the true value; ours round the double's
result, so each case states how far the two may be apart."""
from case import Array, Case, repeat, zeros

UNARY = """
@triton.jit
def {name}(a, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i)
    tl.store(out + i, {expression})
"""

#: expression, arguments, ulp in f32 and f64
ALL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1e-3, 2.5, -2.5, 10.0, -10.0, 0.1, 88.0, -87.0, 1e-7, -1e-7]
POSITIVE = [1.0, 0.5, 2.0, 1e-3, 1e3, 3.14159, 1e-30, 1e30, 0.1, 7.0, 0.999, 1.001, 100.0, 1e-10, 65504.0, 0.0]
SPECIAL = [float("inf"), float("-inf"), float("nan"), 0.0, -0.0, 1e-40, 3e38, -3e38]
FUNCTIONS = {
    "exp": ("tl.exp(x)", ALL + SPECIAL, 2), "exp2": ("tl.exp2(x)", ALL + SPECIAL, 2), "log": ("tl.log(x)", POSITIVE + SPECIAL, 2),
    "log2": ("tl.log2(x)", POSITIVE + SPECIAL, 2), "sqrt": ("tl.sqrt(x)", POSITIVE + SPECIAL, 1),
    "sqrt_rn": ("tl.sqrt_rn(x)", POSITIVE + SPECIAL, 0), "rsqrt": ("tl.rsqrt(x)", POSITIVE[:-1], 2),
    "sin": ("tl.sin(x)", ALL, 2), "cos": ("tl.cos(x)", ALL, 2), "abs": ("tl.abs(x)", ALL + SPECIAL, 0),
    "floor": ("tl.floor(x)", ALL + SPECIAL, 0), "ceil": ("tl.ceil(x)", ALL + SPECIAL, 0), "erf": ("tl.erf(x)", ALL + SPECIAL, 2),
    "sigmoid": ("tl.sigmoid(x)", ALL, 4), "softmax": ("tl.softmax(x)", ALL, 4), "div_rn": ("tl.div_rn(x, 3.0)", ALL, 0),
    "fdiv": ("tl.fdiv(x, 7.0)", ALL, 0), "where": ("tl.where(x > 0, x, -x)", ALL + SPECIAL, 0),
    "polynomial": ("tl.fma(x, tl.fma(x, 0.5, 0.25), x)", ALL, 0), "power": ("x * x * x", ALL, 0),
    "mod": ("x % 0.75", ALL, 0), "floor_mod": ("(x - tl.floor(x / 3.0) * 3.0)", ALL, 0),
    "is_nan": ("(x != x).to(tl.float32)", ALL + SPECIAL, 0), "relu": ("tl.maximum(x, 0.0)", [v for v in ALL if v or v > 0], 0),
    "gelu": ("0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))", ALL, 4), "silu": ("x * tl.sigmoid(x)", ALL, 6),
}  # yapf: disable


def cases():
    for operation, (expression, values, ulp) in FUNCTIONS.items():
        for dtype in ("f32", "f64"):
            size = 32
            name = f"{operation}_{dtype}"
            refused = "Expected dtype" if dtype == "f64" and operation in ("sqrt_rn", "div_rn") else None
            yield Case(f"fn_{name}", UNARY.format(name=f"fn_{name}", expression=expression),
                       dict(a=Array(dtype, repeat(values, size)), out=zeros(dtype, size), N=size), ulp=ulp, near=1e-30, refused=refused)
    for operation in ("abs", "where", "power", "is_nan", "floor_mod"):
        expression, values, ulp = FUNCTIONS[operation]
        if operation == "floor_mod":
            expression, ulp = "x - 3.0 * (x / 3.0)", 1
        name = f"fn_{operation}_f16"
        yield Case(name, UNARY.format(name=name, expression=expression),
                   dict(a=Array("f16", repeat(values, 32)), out=zeros("f16", 32), N=32), ulp=ulp)
    for dtype in ("i32", "i64", "u32", "u64"):
        name = f"fn_umulhi_{dtype}"
        yield Case(name, UNARY.format(name=name, expression="tl.umulhi(x, x + 12345678)"),
                   dict(a=Array(dtype, raw=[0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x12345678, 99, 0xdeadbeef]),
                        out=zeros(dtype, 8), N=8))  # yapf: disable
