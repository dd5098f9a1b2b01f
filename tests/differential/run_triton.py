"""Runs cases in Triton's interpreter mode on CPU tensors: requests as our batch tool takes them come in on standard
input, one a line, results go out the same way. TRITON_INTERPRET=1 is set here, before Triton is imported.

With `--compiled` the same on a GPU, compiled: what decides where interpreter mode is not what compiled Triton does."""
import importlib.util
import json
import os
import sys
import traceback
import warnings

DEVICE = "cuda" if "--compiled" in sys.argv else "cpu"
os.environ["TRITON_INTERPRET"] = "0" if DEVICE == "cuda" else "1"
warnings.filterwarnings("ignore")

import torch  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402

from case import DTYPES  # noqa: E402

MODULES = {}


def module_of(path):
    if path not in MODULES:
        spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
        MODULES[path] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(MODULES[path])
    return MODULES[path]


def run(request):
    kernel = getattr(module_of(request["file"]), request["kernel"])
    buffers = []
    for text in request["buffers"]:
        data = bytes.fromhex(text)
        # 16-byte aligned, as descriptors want it
        room = torch.empty(len(data) + 16, dtype=torch.uint8, device=DEVICE)
        start = -room.data_ptr() % 16
        buffers.append(room[start:start + len(data)])
        buffers[-1].copy_(torch.frombuffer(bytearray(data), dtype=torch.uint8) if data else room[:0])
    arguments = {}
    for given in request["arguments"]:
        name = given["spec"].split("=")[0]
        if "buffer" in given:
            dtype = given["spec"].split("=")[1].split("[")[0]
            memory = buffers[given["buffer"]][given["offset"]:]
            arguments[name] = triton.reinterpret(memory, getattr(tl, DTYPES[dtype][1]))
        elif given["value"].__class__ is str and given["value"].startswith("dtype:"):
            arguments[name] = getattr(tl, given["value"][6:])
        else:
            arguments[name] = given["value"]
    kernel[tuple(request["grid"])](**arguments)
    return {"buffers": [bytes(buffer.tolist()).hex() for buffer in buffers]}


for line in sys.stdin:
    request = json.loads(line)
    try:
        result = run(request)
    except BaseException as error:  # noqa: BLE001: reported as the case's result
        cause = error
        while cause.__cause__ is not None:
            cause = cause.__cause__
        result = {"error": f"{type(error).__name__}: {error} | {''.join(traceback.format_exception(cause)[-3:])}"}
    print(json.dumps(result), flush=True)
