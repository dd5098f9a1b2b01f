"""Products: grouped, two-dimensional, batched and persistent grids; tiles of the contraction in steps."""

import triton
import triton.language as tl
import triton.language.extra.cann.extension as npu


@triton.jit
def grouped_product(a, b, c, rows: tl.constexpr, columns: tl.constexpr, inner: tl.constexpr, a_row: tl.constexpr,
                    a_inner: tl.constexpr, b_inner: tl.constexpr, b_column: tl.constexpr, c_row: tl.constexpr,
                    c_column: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, INNER: tl.constexpr,
                    BAND: tl.constexpr, WHOLE: tl.constexpr):
    me = tl.program_id(0)
    slab = tl.program_id(1)
    row_tiles = tl.cdiv(rows, ROWS)
    column_tiles = tl.cdiv(columns, COLUMNS)
    band_tiles = BAND * column_tiles
    band = me // band_tiles
    band_rows = min(row_tiles - band * BAND, BAND)
    row_tile = band * BAND + (me % band_rows)
    column_tile = (me % band_tiles) // band_rows
    i = row_tile * ROWS + tl.arange(0, ROWS)
    j = column_tile * COLUMNS + tl.arange(0, COLUMNS)
    k = slab * INNER + tl.arange(0, INNER)
    a = a + (i[:, None] * a_row + k[None, :] * a_inner)
    b = b + (k[:, None] * b_inner + j[None, :] * b_column)
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for step in range(0, tl.cdiv(inner, INNER)):
        if WHOLE:
            x = tl.load(a)
            y = tl.load(b)
        else:
            left = inner - step * INNER
            x = tl.load(a, mask=k[None, :] < left, other=0.0)
            y = tl.load(b, mask=k[:, None] < left, other=0.0)
        total += tl.dot(x, y, allow_tf32=False)
        a += INNER * a_inner
        b += INNER * b_inner
    i = row_tile * ROWS + tl.arange(0, ROWS)
    j = column_tile * COLUMNS + tl.arange(0, COLUMNS)
    c = c + (i[:, None] * c_row + j[None, :] * c_column)
    tl.store(c, total.to(c.dtype.element_ty), mask=(i < rows)[:, None] & (j < columns)[None, :])


@triton.jit
def product_plus_matrix(a, b, addend, c, alpha, beta, rows, columns, inner, a_row, a_inner, b_inner, b_column,
                        addend_row, addend_column, c_row, c_column, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
                        INNER: tl.constexpr):
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    j = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    k = tl.arange(0, INNER)
    at_a = a + (i[:, None] * a_row + k[None, :] * a_inner)
    at_b = b + (k[:, None] * b_inner + j[None, :] * b_column)
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for step in range(0, tl.cdiv(inner, INNER)):
        x = tl.load(at_a, mask=(k[None, :] < inner - step * INNER), other=0.0)
        y = tl.load(at_b, mask=(k[:, None] < inner - step * INNER), other=0.0)
        total += tl.dot(x, y, allow_tf32=False)
        at_a += INNER * a_inner
        at_b += INNER * b_inner
    inside = (i[:, None] < rows) & (j[None, :] < columns)
    extra = tl.load(addend + addend_row * i[:, None] + addend_column * j[None, :], mask=inside, other=0.0)
    total = total * alpha + extra.to(total.dtype) * beta
    tl.store(c + c_row * i[:, None] + c_column * j[None, :], total.to(extra.dtype), mask=inside)


@triton.jit
def batched_product(a, b, c, rows, columns, inner, ROWS: tl.constexpr, COLUMNS: tl.constexpr, INNER: tl.constexpr,
                    BAND: tl.constexpr):
    batch = tl.program_id(2)
    a += batch * rows * inner
    b += batch * inner * columns
    c += batch * rows * columns
    x_id = tl.program_id(0)
    y_id = tl.program_id(1)
    if BAND == 1:
        row_tile, column_tile = x_id, y_id
    else:
        x_count = tl.num_programs(0)
        y_count = tl.num_programs(1)
        linear = x_id + y_id * x_count
        in_band = y_count * BAND
        band = linear // in_band
        within = linear % in_band
        height = tl.where((band * BAND + BAND) > x_count, x_count % BAND, BAND)
        row_tile = band * BAND + within % height
        column_tile = within // height
    i = row_tile * ROWS + tl.arange(0, ROWS)
    j = column_tile * COLUMNS + tl.arange(0, COLUMNS)
    k = tl.arange(0, INNER)
    at_a = a + i[:, None] * inner + k[None, :]
    at_b = b + k[:, None] * columns + j[None, :]
    steps = tl.cdiv(inner, INNER)
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for step in range(steps):
        x = tl.load(at_a, mask=k[None, :] < inner - step * INNER)
        y = tl.load(at_b, mask=k[:, None] < inner - step * INNER)
        at_a += INNER
        at_b += INNER * columns
        total += tl.dot(x, y, allow_tf32=False)
    inside_i = (row_tile * ROWS + tl.arange(0, ROWS)) < rows
    inside_j = (column_tile * COLUMNS + tl.arange(0, COLUMNS)) < columns
    tl.store(c + i[:, None] * columns + j[None, :], total, inside_i[:, None] & inside_j[None, :])


@triton.jit
def persistent_linear(x, weight, y, rows, columns, inner, x_row, x_inner, weight_column, weight_inner, y_row, y_column,
                      ROWS: tl.constexpr, COLUMNS: tl.constexpr, INNER: tl.constexpr, ROW_TILES: tl.constexpr,
                      COLUMN_TILES: tl.constexpr, PROGRAMS: tl.constexpr):
    me = tl.program_id(0)
    tiles = ROW_TILES * COLUMN_TILES
    for tile in range(me, tiles, PROGRAMS):
        row_tile = tile // COLUMN_TILES
        column_tile = tile % COLUMN_TILES
        i = row_tile * ROWS + tl.arange(0, ROWS)
        j = column_tile * COLUMNS + tl.arange(0, COLUMNS)
        i_inside = i < rows
        j_inside = j < columns
        total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
        for start in range(0, inner, INNER):
            k = start + tl.arange(0, INNER)
            k_inside = k < inner
            u = tl.load(x + i[:, None] * x_row + k[None, :] * x_inner, mask=i_inside[:, None] & k_inside[None, :], other=0.0)
            v = tl.load(weight + j[:, None] * weight_column + k[None, :] * weight_inner,
                        mask=j_inside[:, None] & k_inside[None, :], other=0.0)
            total += tl.dot(u, tl.trans(v))
        tl.store(y + i[:, None] * y_row + j[None, :] * y_column, total, mask=i_inside[:, None] & j_inside[None, :])


@triton.jit
def leak(x):
    return tl.where(x >= 0, x, 0.125 * x)


@triton.jit
def product_with_activation(a, b, c, rows, columns, inner, a_row, a_inner, b_inner, b_column, c_row, c_column,
                            ROWS: tl.constexpr, COLUMNS: tl.constexpr, INNER: tl.constexpr, ACTIVATION: tl.constexpr):
    BAND: tl.constexpr = 1
    me = tl.program_id(axis=0)
    row_tiles = tl.cdiv(rows, ROWS)
    column_tiles = tl.cdiv(columns, COLUMNS)
    in_band = BAND * column_tiles
    first_row = me // in_band * BAND
    height = min(row_tiles - first_row, BAND)
    row_tile = first_row + ((me % in_band) % height)
    column_tile = (me % in_band) // height
    i = row_tile * ROWS + tl.arange(0, ROWS)
    j = column_tile * COLUMNS + tl.arange(0, COLUMNS)
    k = tl.arange(0, INNER)
    base_a = a + (i[:, None] * a_row + k[None, :] * a_inner)
    base_b = b + (k[:, None] * b_inner + j[None, :] * b_column)
    i_inside = i < rows
    j_inside = j < columns
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for step in range(0, tl.cdiv(inner, INNER)):
        x = tl.load(base_a + step * INNER * a_inner, mask=i_inside[:, None] and (k[None, :] < inner - step * INNER), other=0.0)
        y = tl.load(base_b + step * INNER * b_inner, mask=j_inside[None, :] and (k[:, None] < inner - step * INNER), other=0.0)
        total = tl.dot(x, y, total)
    HALF: tl.constexpr = ROWS // 2
    for half in npu.parallel(0, 2, bind_sub_block=True):
        part = npu.extract_slice(total, (half * HALF, 0), (HALF, COLUMNS), (1, 1))
        if ACTIVATION == "leak":
            part = leak(part)
        out_i = row_tile * ROWS + half * HALF + tl.arange(0, HALF)
        out_j = column_tile * COLUMNS + tl.arange(0, COLUMNS)
        inside = (out_i[:, None] < rows) & (out_j[None, :] < columns)
        tl.store(c + c_row * out_i[:, None] + c_column * out_j[None, :], part.to(tl.float16), mask=inside)


@triton.jit
def diagonal_product(a, b, c, rows: tl.constexpr, columns: tl.constexpr, inner: tl.constexpr, cores: tl.constexpr,
                     ROWS: tl.constexpr, COLUMNS: tl.constexpr, INNER: tl.constexpr, SQUARE: tl.constexpr):
    me = tl.program_id(axis=0)
    row_tile = 0
    column_tile = 0
    row_tiles = triton.cdiv(rows, ROWS)
    column_tiles = triton.cdiv(columns, COLUMNS)
    tiles = row_tiles * column_tiles
    if row_tiles >= SQUARE and column_tiles >= SQUARE:
        for tile in range(me, tiles, cores):
            height = SQUARE if tile < (row_tiles // SQUARE * SQUARE) * column_tiles else row_tiles % SQUARE
            area = height * SQUARE
            width = SQUARE if tile % (column_tiles * SQUARE) < (height * column_tiles) // area * area else column_tiles % SQUARE
            local = tile % (SQUARE * column_tiles) % (SQUARE * height)
            row_tile = local % height + tile // (SQUARE * column_tiles) * SQUARE
            x, y = height, width if height > width else width, height
            while y != 0:
                x, y = y, x % y
            common = height * width // x
            column_tile = (local + (local // common)) % width + tile % (SQUARE * column_tiles) // area * SQUARE
            first_row = row_tile * ROWS
            first_column = column_tile * COLUMNS
            total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
            for start in range(0, inner, INNER):
                u = tl.load(a + ((first_row + tl.arange(0, ROWS)) * inner)[:, None] + (start + tl.arange(0, INNER))[None, :],
                            mask=((first_row + tl.arange(0, ROWS)) < rows)[:, None] & ((start + tl.arange(0, INNER)) < inner)[None, :],
                            other=0.0)
                v = tl.load(b + ((start + tl.arange(0, INNER)) * columns)[:, None] + (first_column + tl.arange(0, COLUMNS))[None, :],
                            mask=((start + tl.arange(0, INNER)) < inner)[:, None] & ((first_column + tl.arange(0, COLUMNS)) < columns)[None, :],
                            other=0.0)
                total = tl.dot(u, v, total)
            tl.store(c + ((first_row + tl.arange(0, ROWS)) * columns)[:, None] + (first_column + tl.arange(0, COLUMNS))[None, :],
                     total.to(tl.bfloat16),
                     mask=((first_row + tl.arange(0, ROWS)) < rows)[:, None] & ((first_column + tl.arange(0, COLUMNS)) < columns)[None, :])
    else:
        for tile in range(me, tiles, cores):
            row_tile = tile // column_tiles
            column_tile = tile % column_tiles
            first_row = row_tile * ROWS
            first_column = column_tile * COLUMNS
            total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
            for start in range(0, inner, INNER):
                u = tl.load(a + ((first_row + tl.arange(0, ROWS)) * inner)[:, None] + (start + tl.arange(0, INNER))[None, :],
                            mask=((first_row + tl.arange(0, ROWS)) < rows)[:, None] & ((start + tl.arange(0, INNER)) < inner)[None, :],
                            other=0.0)
                v = tl.load(b + ((start + tl.arange(0, INNER)) * columns)[:, None] + (first_column + tl.arange(0, COLUMNS))[None, :],
                            mask=((start + tl.arange(0, INNER)) < inner)[:, None] & ((first_column + tl.arange(0, COLUMNS)) < columns)[None, :],
                            other=0.0)
                total = tl.dot(u, v, total)
            tl.store(c + ((first_row + tl.arange(0, ROWS)) * columns)[:, None] + (first_column + tl.arange(0, COLUMNS))[None, :],
                     total.to(tl.bfloat16),
                     mask=((first_row + tl.arange(0, ROWS)) < rows)[:, None] & ((first_column + tl.arange(0, COLUMNS)) < columns)[None, :])
