"""Loss of one label a row: log-sum-exp over the vocabulary in a loop, minus the label's own logit."""
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["M"])
def cross_entropy(logits, labels, losses, M, V, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    peak = tl.full((BLOCK,), -1e30, tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, V, BLOCK):
        cols = first + lanes
        x = tl.load(logits + row * stride + cols, mask=cols < V, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(peak, x)
        total = total * tl.exp(peak - higher) + tl.exp(x - higher)
        peak = higher
    top = tl.max(peak, axis=0)
    lse = top + tl.log(tl.sum(total * tl.exp(peak - top), axis=0))
    label = tl.load(labels + row)
    own = tl.load(logits + row * stride + label).to(tl.float32)
    tl.store(losses + row, lse - own)
