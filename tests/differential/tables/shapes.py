"""Moves of elements: views, transposes, broadcasts, joins, splits, concatenation."""
from case import Array, Case, zeros

MOVE = """
@triton.jit
def {name}(a, out):
    x = tl.load(a + tl.arange(0, 32))
    m = tl.reshape(x, (4, 8))
    i = tl.arange(0, 32)
    r = tl.arange(0, 4)
    c = tl.arange(0, 8)
    {statement}
"""

FLAT = "tl.store(out + i, tl.reshape({}, (32,)))"
MOVES = {
    "reshape": FLAT.format("tl.reshape(x, (2, 16))"), "reshape_args": FLAT.format("x.reshape(2, 4, 4)"), "view": FLAT.format("tl.view(x, (8, 4))"),
    "ravel": "tl.store(out + i, tl.ravel(m))", "trans": FLAT.format("tl.trans(m)"), "T": FLAT.format("m.T"),
    "trans_order": FLAT.format("tl.trans(m.reshape(2, 2, 8), (2, 0, 1))"), "permute": FLAT.format("m.reshape(2, 2, 8).permute(1, 2, 0)"),
    "permute_fn": FLAT.format("tl.permute(x.reshape(2, 4, 4), (0, 2, 1))"), "trans_method": FLAT.format("m.trans(1, 0)"),
    "expand_dims": FLAT.format("tl.expand_dims(x, 0)"), "expand_many": FLAT.format("tl.expand_dims(x, (0, -1))"),
    "index_none": FLAT.format("x[None, :, None]"), "index_slice": FLAT.format("x[:, None]"),
    "broadcast_to": FLAT.format("tl.broadcast_to(r[:, None], (4, 8))"), "broadcast_add": FLAT.format("r[:, None] * 100 + c[None, :]"),
    "broadcast": FLAT.format("tl.broadcast(r[:, None], m)[0] + m"),
    "split": "p, q = tl.split(x.reshape(16, 2))\n    tl.store(out + tl.arange(0, 16), p)\n    tl.store(out + 16 + tl.arange(0, 16), q)",
    "join": FLAT.format("tl.join(tl.sum(m.reshape(4, 4, 2), 2), tl.max(m.reshape(4, 4, 2), 2))"),
    "interleave": "p, q = tl.split(x.reshape(16, 2))\n    tl.store(out + i, tl.interleave(q, p))",
    "split_3d": "p, q = m.reshape(4, 4, 2).split()\n    tl.store(out + tl.arange(0, 16), p.reshape(16))\n    tl.store(out + 16 + tl.arange(0, 16), (q - p).reshape(16))",
    "join_scalars": "tl.store(out + tl.arange(0, 2), tl.join(tl.sum(x), tl.max(x)))",
    "cat": "p, q = tl.split(x.reshape(16, 2))\n    tl.store(out + i, tl.sort(tl.cat(p, q, can_reorder=True)))",
    "zeros": FLAT.format("tl.zeros((4, 8), dtype=a.dtype.element_ty) + m"), "zeros_like": FLAT.format("tl.zeros_like(m) - m"),
    "full": FLAT.format("tl.full((4, 8), 3, a.dtype.element_ty) * m"), "arange_from": "tl.store(out + tl.arange(0, 16), tl.arange(16, 32))",
    "swizzle": FLAT.format("tl.swizzle2d(r[:, None], c[None, :], 4, 8, 2)[0] * 8 + tl.swizzle2d(r[:, None], c[None, :], 4, 8, 2)[1]"),
    "where_scalar": FLAT.format("tl.where(m > 10, m, 0)"), "where_broadcast": FLAT.format("tl.where(r[:, None] > 1, m, c[None, :].to(a.dtype.element_ty))"),
    "flip_3d": FLAT.format("tl.flip(x.reshape(2, 4, 4), 1)"), "numel": "tl.store(out, m.numel)", "shape": "tl.store(out, m.shape[1] * 10 + m.shape[0])",
    "item": "tl.store(out, tl.full((1,), 5, tl.int32).sum())", "diagonal": "tl.store(out + r, tl.sum(tl.where(r[:, None] == c[None, :], m, 0), 1))",
}  # yapf: disable


def cases():
    for dtype in ("i32", "f32", "i8", "f16"):
        for label, statement in MOVES.items():
            if dtype in ("i8", "f16") and label in ("swizzle", "shape", "numel", "item", "join", "join_scalars"):
                continue
            name = f"move_{label}_{dtype}"
            values = [(k * 11) % 37 - 5 for k in range(32)]
            yield Case(name, MOVE.format(name=name, statement=statement), dict(a=Array(dtype, values), out=zeros(dtype, 32)))
    refused = {"broadcast_rank": ("tl.broadcast_to(c, (4, 8))", "rank mismatch"), "broadcast_size": ("m + tl.arange(0, 4)[None, :]", "incompatible"),
               "reshape_size": ("x.reshape(4, 4)", "reshape"), "arange_size": ("tl.arange(0, 12)", "power of 2"),
               "zeros_size": ("tl.zeros((3, 4), tl.int32)", "power of 2"), "trans_order": ("m.permute(0, 0)", "permut")}  # yapf: disable
    for label, (expression, message) in refused.items():
        name = f"refused_{label}"
        yield Case(name, MOVE.format(name=name, statement=FLAT.format(expression)), dict(a=zeros("i32", 32), out=zeros("i32", 32)), refused=message)
