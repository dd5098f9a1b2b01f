"""Layer normalisation of rows in two passes over the columns: moments first, then scale and shift.

    tilewright tune examples/layer_norm.py:layer_norm --target cpu \
        -a x=f32[4096,1000] -a y=f32[4096,1000] -a weight=f32[1000] -a bias=f32[1000] \
        -a row_stride=1000 -a n_rows=4096 -a n_cols=1000 -a eps=1e-5 -g "(cdiv(n_rows, ROWS),)"
"""
import triton
import triton.language as tl


@triton.jit
def layer_norm(x, y, weight, bias, row_stride, n_rows, n_cols, eps, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    row_inside = rows < n_rows
    offsets = rows[:, None] * row_stride

    total = tl.zeros((ROWS, COLS), tl.float32)
    squares = tl.zeros((ROWS, COLS), tl.float32)
    for start in range(0, n_cols, COLS):
        cols = start + tl.arange(0, COLS)
        inside = row_inside[:, None] & (cols[None, :] < n_cols)
        values = tl.load(x + offsets + cols[None, :], mask=inside, other=0.0).to(tl.float32)
        total += values
        squares += values * values
    mean = tl.sum(total, axis=1) / n_cols
    variance = tl.sum(squares, axis=1) / n_cols - mean * mean
    scale = 1.0 / tl.sqrt(variance + eps)

    for start in range(0, n_cols, COLS):
        cols = start + tl.arange(0, COLS)
        col_inside = cols < n_cols
        inside = row_inside[:, None] & col_inside[None, :]
        values = tl.load(x + offsets + cols[None, :], mask=inside, other=0.0).to(tl.float32)
        w = tl.load(weight + cols, mask=col_inside, other=0.0)
        b = tl.load(bias + cols, mask=col_inside, other=0.0)
        normal = (values - mean[:, None]) * scale[:, None]
        tl.store(y + offsets + cols[None, :], normal * w[None, :] + b[None, :], mask=inside)
