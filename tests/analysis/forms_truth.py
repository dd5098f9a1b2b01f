"""What an expert says of each kernel of forms.py and of facts.py; see corpus_truth.py for the fields."""

from corpus_truth import Truth

ROWS = {"A": "split m", "B": "one-shot n"}


def summed(name):
    return Truth("forms.py:" + name, ROWS, reduction="n", contiguous="m n", constraints=("oneshot.short: B >= n",))


FORMS = (
    *(Truth("forms.py:" + name, {"B": "split n"}, contiguous="n")
      for name in ("mask_assigned", "mask_inline", "product_cast", "program_cast", "program_plus_one", "full_module_name",
                   "other_module_alias", "extension_alias", "flipped_mask", "at_most_mask", "mask_less_one",
                   "mask_of_smaller", "chained_mask", "annotated", "augmented", "sum_cast_then_scaled",
                   "call_cast_times_block")),
    Truth("forms.py:three_masks", {"A": "split m", "B": "split n", "C": "split k"}, contiguous="k"),
    Truth("forms.py:programs_in_a_tuple", {"A": "split m", "B": "split n"}, contiguous="n"),
    Truth("forms.py:sliced_mask", {"B": "split n"}, contiguous="n"),
    Truth("forms.py:doubled_bound", {"B": "split *"}),
    Truth("forms.py:no_mask", {"B": "split *"}, status="partial"),
    Truth("forms.py:function_times_block", {"B": "split n"}, contiguous="n"),
    *(Truth("forms.py:" + name, {"B": "tile n"}, contiguous="n")
      for name in ("stride_in_range", "stepped_loop", "counted_loop", "turns_over_blocks", "blocks_counted_inline",
                   "blocks_counted_before", "python_chain")),
    *map(summed, ("sum_by_keyword", "sum_by_negative_axis", "sum_by_position", "maximum_with_index", "sum_with_type",
                  "sum_inside_store", "sum_as_method", "reduce_with_function", "sum_by_named_axis", "sum_keeping_axes")),
    Truth("forms.py:one_shot_columns", {"B": "one-shot n"}, contiguous="n", constraints=("oneshot.short: B >= n",)),
    Truth("forms.py:sum_of_everything", {"B": "tile n"}, reduction="n", contiguous="n"),
    Truth("forms.py:sum_without_axis", {"B": "tile n"}, reduction="n", contiguous="n"),
)

PARTS = {"R": "split rows", "RS": "tile rows", "CS": "tile columns"}

FACTS = (
    *(Truth("facts.py:" + name, {"B": "split n"}, contiguous="n")
      for name in ("add_by_variable", "add_inline", "add_in_one_expression")),
    Truth("facts.py:copy_in_two_grids", {"ROWS": "tile index_length", "COLUMNS": "tile columns"}, contiguous="columns index_length"),
    *(Truth("facts.py:" + name, {"B": "split n", "S": "tile n"}, contiguous="n", constraints=("order.tile: S <= B",))
      for name in ("blocks_in_parts", "blocks_in_sliced_parts", "blocks_in_ranged_parts")),
    Truth("facts.py:scalar_offset", {"B": "split n"}),
    Truth("facts.py:product_in_parts", {"A": "split m", "B": "split n", "AS": "tile m", "BS": "tile n", "KS": "tile k"},
          reduction="k", contiguous="k n"),
    Truth("facts.py:product_with_inline_masks", {"A": "split m", "B": "split n", "KS": "tile k"}, reduction="k", contiguous="k n"),
    *(Truth("facts.py:" + name, PARTS, reduction="columns", contiguous="columns rows")
      for name in ("largest_by_keyword", "largest_by_negative_axis", "largest_by_position")),
    Truth("facts.py:swap_axes", {"R": "split rows", "C": "split columns"}, contiguous="columns rows"),
    Truth("facts.py:softmax_in_parts", {"R": "split rows", "RS": "tile rows", "C": "one-shot columns"}, reduction="columns",
          contiguous="columns", constraints=("oneshot.short: C >= columns",)),
    Truth("facts.py:smooth_gate", {"ROWS": "tile rows"}, given="COLUMNS=2048", contiguous="columns"),
    Truth("facts.py:weigh_copies", {"C": "tile columns"}, given="TOP=2", reduction="columns", contiguous="columns"),
    Truth("facts.py:packed_weight_product", {"A": "split m", "B": "split n", "KS": "tile k *", "BAND": "schedule"}, reduction="k"),
    Truth("facts.py:product_with_current_inner", {"A": "split m", "B": "split n", "KS": "tile k"}, reduction="k", contiguous="k n"),
)
