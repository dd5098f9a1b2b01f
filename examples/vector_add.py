"""Elementwise addition: one open parameter, the number of elements that one program adds.

    tilewright tune examples/vector_add.py:vector_add --target cpu \
        -a x=f32[98432] -a y=f32[98432] -a out=f32[98432] -a n_elements=98432 -g "(cdiv(n_elements, BLOCK),)"
"""
import triton
import triton.language as tl


@triton.jit
def vector_add(x, y, out, n_elements, BLOCK: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n_elements
    total = tl.load(x + offsets, mask=inside) + tl.load(y + offsets, mask=inside)
    tl.store(out + offsets, total, mask=inside)
