"""What an expert says of each kernel of this folder that has the structure of a public one. One entry a kernel:

    kernel       FILE:KERNEL
    given        arguments of the launch, as the command line takes them: every constexpr that is not tuned
    roles        parameter -> roles and then axes, in any order: "split+tile n"; "*" is an axis whose length no
                 argument says
    reduction    axes along which values are combined; contiguous: axes along which memory is consecutive
    coupled      parameter -> arguments that the caller derives from it
    constraints  CODE: TEXT, each of which must be found (further ones are allowed)
    effects      accumulates=..., atomics=...: buffers that a trial run changes for the next one
    status       "partial" where the source leaves something open that the user must answer for
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Truth:
    kernel: str
    roles: dict
    given: str = ""
    reduction: str = ""
    contiguous: str = ""
    coupled: dict = field(default_factory=dict)
    constraints: tuple = ()
    accumulates: str = ""
    atomics: str = ""
    status: str = "ok"


CORPUS = (
    # Elementwise
    Truth("pointwise.py:multiply", {"WIDTH": "split count"}, contiguous="count"),
    Truth("pointwise.py:select_in_place", {"PART": "split count", "STEP": "tile count"}, contiguous="count",
          constraints=("divide.floor: PART % STEP == 0",), accumulates="out"),
    Truth("pointwise.py:fill_with_one", {"PART": "split count", "STEP": "tile count"}, contiguous="count"),
    Truth("pointwise.py:weighted_difference", {"WIDTH": "tile+host-coupled count"}, contiguous="count",
          coupled={"WIDTH": ("block_count",)}),
    Truth("pointwise.py:gate_in_turns", {"WIDTH": "tile total"}, contiguous="total"),
    Truth("pointwise.py:gate_in_rows", {"WIDTH": "split total"}, given="COLUMNS=96", contiguous="total"),
    Truth("pointwise.py:decay_gates", {"HEADS": "tile heads", "BATCHES": "tile+host-coupled batches"}, contiguous="heads",
          coupled={"BATCHES": ("rounds",)}),
    Truth("pointwise.py:affine_rows", {"rows_each": "tile tokens", "columns_each": "tile width"},
          given="SCALES=9 SHIFTS=1 workers=40", contiguous="width"),
    # Reductions and norms
    Truth("reductions.py:row_minimum", {"ROWS": "tile rows", "COLUMNS": "tile columns"}, reduction="columns", contiguous="columns rows"),
    Truth("reductions.py:row_mean", {"ROWS": "split rows", "COLUMNS": "tile columns"}, reduction="columns", contiguous="columns rows"),
    Truth("reductions.py:row_length", {"ROWS": "split rows", "COLUMNS": "tile columns"}, reduction="columns", contiguous="columns rows"),
    Truth("reductions.py:count_positive", {"WIDTH": "tile columns"}, reduction="columns", contiguous="columns"),
    Truth("reductions.py:moments", {"ROWS": "split rows", "COLUMNS": "tile columns"}, reduction="columns", contiguous="columns rows"),
    Truth("reductions.py:normalize_groups", {"STEP": "tile pixels"}, given="MOST_CHANNELS=4", reduction="pixels group_channels", contiguous="pixels"),
    Truth("reductions.py:scale_own_range", {"ROWS": "tile batch"}, given="WIDTH=128", reduction="WIDTH", contiguous="WIDTH"),
    Truth("reductions.py:gated_layer_norm", {"ROWS": "split rows", "COLUMNS": "one-shot columns"}, given="HAS_BIAS=true HAS_GATE=true",
          reduction="columns", contiguous="columns rows", constraints=("oneshot.short: COLUMNS >= columns",)),
    Truth("reductions.py:unit_rows", {"ROWS": "tile+host-coupled rows"}, given="WIDTH=64", reduction="WIDTH", contiguous="WIDTH",
          coupled={"ROWS": ("rounds",)}),
    Truth("reductions.py:middle_mean", {"STEP": "tile middle"}, reduction="middle"),
    Truth("reductions.py:split_and_measure", {"TOKENS": "tile tokens"},
          given="first_width=100 second_width=60 FIRST=128 SECOND=64 stride=220", reduction="first_width second_width",
          contiguous="first_width second_width"),
    Truth("reductions.py:spread_by_tasks", {"rows_each": "tile tokens"}, given="width=64 workers=40", reduction="width",
          contiguous="width tokens"),
    Truth("reductions.py:grouped_layer_norm", {"TOKENS": "split tokens"},
          given="GROUPS=2 width=100 WIDTH=128 WITH_EXTRA=true ONLY_SCALE=false WITH_BIAS=true",
          reduction="width", contiguous="width tokens"),
    # Softmax and losses
    Truth("softmax_loss.py:softmax_rows_in_turns", {"WIDTH": "one-shot columns"}, reduction="columns", contiguous="columns",
          constraints=("oneshot.short: WIDTH >= columns",)),
    Truth("softmax_loss.py:softmax_gradient", {"ROWS": "split rows", "COLUMNS": "tile columns"}, given="AT_ONCE=false",
          reduction="columns", contiguous="columns"),
    Truth("softmax_loss.py:softmax_gradient", {"ROWS": "split rows", "COLUMNS": "one-shot columns"}, given="AT_ONCE=true",
          reduction="columns", contiguous="columns", constraints=("oneshot.short: COLUMNS >= columns",)),
    Truth("softmax_loss.py:softmax_in_steps", {"STEP": "tile columns"}, given="rows=64 columns=1000", reduction="columns",
          contiguous="columns"),
    Truth("softmax_loss.py:class_loss_along_outer", {"CLASSES": "tile classes", "INNER": "split inner"}, reduction="classes",
          contiguous="inner"),
    Truth("softmax_loss.py:partial_log_sums", {"WIDTH": "split+host-coupled width"}, given="width=1000 SCALED=false",
          reduction="width", contiguous="width", coupled={"WIDTH": ("out",)}),
    Truth("softmax_loss.py:row_loss", {"STEP": "tile columns"}, given="MODE=mean", reduction="columns", contiguous="columns"),
    # Products
    Truth("matmul.py:grouped_product",
          {"ROWS": "split rows", "COLUMNS": "split columns", "INNER": "tile inner", "BAND": "schedule"},
          given="rows=512 columns=384 inner=200 a_row=200 a_inner=1 b_inner=384 b_column=1 c_row=384 c_column=1 WHOLE=false",
          reduction="inner", contiguous="columns inner"),
    Truth("matmul.py:product_plus_matrix", {"ROWS": "split rows", "COLUMNS": "split columns", "INNER": "tile inner"},
          reduction="inner"),
    Truth("matmul.py:batched_product", {"ROWS": "split rows", "COLUMNS": "split columns", "INNER": "tile inner", "BAND": "schedule"},
          reduction="inner", contiguous="columns inner"),
    Truth("matmul.py:persistent_linear",
          {"ROWS": "tile+host-coupled rows", "COLUMNS": "tile+host-coupled columns", "INNER": "tile inner"},
          given="ROW_TILES=4 COLUMN_TILES=3 PROGRAMS=20", reduction="inner",
          coupled={"ROWS": ("ROW_TILES",), "COLUMNS": ("COLUMN_TILES",)}),
    Truth("matmul.py:product_with_activation", {"ROWS": "split rows", "COLUMNS": "split columns", "INNER": "tile inner"},
          given="ACTIVATION=leak", reduction="inner"),
    Truth("matmul.py:diagonal_product",
          {"ROWS": "tile rows", "COLUMNS": "tile columns", "INNER": "tile inner", "SQUARE": "schedule"},
          given="rows=2048 columns=2048 inner=512 cores=20", reduction="inner", contiguous="columns inner"),
    # Attention
    Truth("attention.py:attention_by_tasks", {"QUERIES": "tile LENGTH", "KEYS": "tile LENGTH"},
          given="q_batch=65536 q_head=65536 q_row=64 q_column=1 batches=1 heads=1 LENGTH=1024 HEAD=64 PHASES=3",
          reduction="LENGTH HEAD", contiguous="HEAD LENGTH",
          constraints=("divide.tail: 1024 % QUERIES == 0", "static_assert: QUERIES >= KEYS")),
    Truth("attention.py:attention_by_tasks", {"QUERIES": "tile LENGTH", "KEYS": "tile LENGTH"},
          given="q_batch=65536 q_head=65536 q_row=256 q_column=1 batches=1 heads=1 LENGTH=1024 HEAD=256 PHASES=1",
          reduction="LENGTH HEAD", contiguous="HEAD LENGTH",
          constraints=("divide.tail: 1024 % QUERIES == 0", "divide.floor: QUERIES % 4 == 0"), accumulates="workspace"),
    Truth("attention.py:jagged_attention", {"QUERIES": "tile+host-coupled *", "KEYS": "tile *"},
          given="row_stride=64 head_stride=64 alpha=1 heads=2 longest=512 HEAD=64 workers=20 tasks=64",
          reduction="HEAD longest_1", contiguous="HEAD longest_1", constraints=("order.tile: QUERIES <= 512",), coupled={"QUERIES": ("tasks",)}),
    Truth("attention.py:chunk_output", {"KS": "tile K", "VS": "split V"},
          given="heads=4 K=100 V=80 CHUNK=64 JAGGED=false", reduction="K T CHUNK", contiguous="K V CHUNK"),
    Truth("attention.py:apply_chunk_scores", {"KS": "tile K", "VS": "tile V"}, given="CHUNK=64 JAGGED=false", reduction="T", contiguous="K T V"),
    Truth("attention.py:block_states", {"PART": "split+host-coupled *", "STEP": "tile+host-coupled *", "OUT": "split *"},
          given="batches=1 heads=4 length=1000 width=64 out_width=128 WIDTH=64 OUTS=2 PARTS=4 STEPS=4", contiguous="WIDTH", status="partial",
          coupled={"PART": ("PARTS",), "STEP": ("STEPS",)}),
    Truth("attention.py:carried_state", {"KS": "split K", "VS": "split V"},
          given="heads=4 K=100 V=80 CHUNK=64 SPAN=64 DECAYED=true STARTED=true KEPT=true", reduction="T", contiguous="K V"),
    # Indices
    Truth("indexing.py:take_flat", {"WIDTH": "split count"}, contiguous="count"),
    Truth("indexing.py:take_columns", {"ROWS": "tile rows", "COLUMNS": "split wanted"}, contiguous="wanted"),
    Truth("indexing.py:look_up_rows", {"ROWS": "tile count", "COLUMNS": "tile width"}, given="width=300", contiguous="width count"),
    Truth("indexing.py:keep_lower", {"ROWS": "split rows", "COLUMNS": "tile columns"}, contiguous="columns"),
    Truth("indexing.py:bucket_values", {"PART": "split count", "STEP": "tile count"},
          given="count=1000 table_width=128 highest=100 divisor=2", contiguous="count"),
    Truth("indexing.py:take_rows_unevenly", {"MORE_ROWS": "split+host-coupled rows", "PART": "one-shot columns", "STEP": "tile columns"},
          given="fallback=0 MORE_CORES=8", contiguous="columns", coupled={"MORE_ROWS": ("MORE_CORES",)},
          constraints=("oneshot.short: PART >= columns",)),
    Truth("indexing.py:penalize_in_place", {"WORDS": "tile words"}, accumulates="logits", contiguous="words"),
    Truth("indexing.py:count_words", {"WORDS": "tile+host-coupled length"}, atomics="counts", accumulates="counts", coupled={"WORDS": ("tasks",)}),
    Truth("indexing.py:copy_many", {"WIDTH": "tile *"}, status="partial"),
    Truth("indexing.py:map_slots", {"TOKENS": "tile most_tokens *", "WINDOW": "one-shot table_stride"}, given="PAD=-1",
          contiguous="most_tokens table_stride"),
    Truth("indexing.py:rotate_in_place", {"WIDTH": "unused"},
          given="heads=6 width=64 rotated=48 HEADS=8 ROTATED=64 HALVES=true", accumulates="x"),
    # Scans
    Truth("scans.py:scan_parts", {"WIDTH": "split+host-coupled count"}, reduction="count", contiguous="count",
          coupled={"WIDTH": ("sums",)}),
    Truth("scans.py:scan_with_carry", {"STEP": "tile T", "WIDTH": "split width"},
          given="batches=2 heads=4 width=100 BACKWARD=false SCALED=false JAGGED=false", reduction="T", contiguous="width"),
    Truth("scans.py:scan_chunk_by_product", {"WIDTH": "split width"},
          given="batches=2 heads=4 width=100 CHUNK=64 BACKWARD=false JAGGED=false HEADS_FIRST=true", reduction="T", contiguous="width"),
    Truth("scans.py:scan_chunks_in_block", {"PART": "split T"},
          given="heads=4 BACKWARD=false SCALED=false JAGGED=false HEADS_FIRST=false CHUNK=64",
          contiguous="heads", constraints=("divide.floor: PART % 64 == 0",)),
    Truth("scans.py:gaps_between", {"width": "tile+host-coupled count"}, contiguous="count", coupled={"width": ("rounds",)}),
    Truth("scans.py:cut_rows_in_place", {"STEP": "tile words", "SMALL_STEP": "tile words"},
          given="words=1000 cut_value=0", reduction="words", contiguous="words", accumulates="logits scratch"),
)
