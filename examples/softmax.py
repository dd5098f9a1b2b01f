"""Row softmax, twice: with the whole row in one tile, and with a loop over the columns.

    tilewright tune examples/softmax.py:softmax_online --target cpu \
        -a x=f32[4096,3000] -a y=f32[4096,3000] -a x_row_stride=3000 -a y_row_stride=3000 \
        -a n_rows=4096 -a n_cols=3000 -g "(cdiv(n_rows, ROWS),)"
"""
import triton
import triton.language as tl


@triton.jit
def softmax_one_shot(x, y, x_row_stride, y_row_stride, n_cols, BLOCK: tl.constexpr):
    """One program a row; BLOCK must cover the row."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    inside = cols < n_cols
    values = tl.load(x + row * x_row_stride + cols, mask=inside, other=-float("inf"))
    shifted = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * y_row_stride + cols, shifted / tl.sum(shifted, axis=0), mask=inside)


@triton.jit
def softmax_online(x, y, x_row_stride, y_row_stride, n_rows, n_cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    """ROWS rows a program; the columns pass by in steps of COLS, twice, with a running maximum and sum."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    row_inside = rows < n_rows
    x_rows = x + rows[:, None] * x_row_stride
    y_rows = y + rows[:, None] * y_row_stride

    largest = tl.full((ROWS,), -float("inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    for start in range(0, n_cols, COLS):
        cols = start + tl.arange(0, COLS)
        inside = row_inside[:, None] & (cols[None, :] < n_cols)
        values = tl.load(x_rows + cols[None, :], mask=inside, other=-float("inf"))
        new_largest = tl.maximum(largest, tl.max(values, axis=1))
        # A row outside the matrix has no finite value; keep its exponent at zero instead of inf - inf.
        safe = tl.where(new_largest == -float("inf"), 0.0, new_largest)
        total = total * tl.exp(largest - safe) + tl.sum(tl.exp(values - safe[:, None]), axis=1)
        largest = new_largest

    for start in range(0, n_cols, COLS):
        cols = start + tl.arange(0, COLS)
        inside = row_inside[:, None] & (cols[None, :] < n_cols)
        values = tl.load(x_rows + cols[None, :], mask=inside, other=0.0)
        tl.store(y_rows + cols[None, :], tl.exp(values - largest[:, None]) / total[:, None], mask=inside)
