"""``import triton.backends.ascend.runtime`` switches the extended ``triton.autotune`` on."""

import tilewright.triton

tilewright.triton.enable()
