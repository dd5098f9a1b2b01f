"""A kernel's source as the engine reads it: the function itself, and what its free names stand for right now.

The engine never runs Python, so the values of globals, helpers from other modules and variables of an enclosing function
are looked up here and written out as a small module of their own. The kernel keeps its line numbers, so that the engine's
messages point into the user's file.
"""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
from dataclasses import dataclass, field
from types import FunctionType, ModuleType

from .errors import RefusalError, UserError

NO_DEFAULT = inspect.Parameter.empty


@dataclass(frozen=True)
class Parameter:
    name: str
    is_constexpr: bool
    default: object = NO_DEFAULT


@dataclass(frozen=True)
class KernelSource:
    """The text that the engine parses, and the parameters as Python sees them."""

    name: str
    path: str
    text: str
    parameters: tuple[Parameter, ...]


def kernel_source(function: FunctionType) -> KernelSource:
    """Reads the source of a kernel's Python function; UserError when there is none."""
    definition = _definition(function)
    parts = _Parts()
    _collect(function, definition, parts, {function.__qualname__})
    line = max(definition.line, 3)  # line 1 holds the bindings, the line before `def` its decorator
    standard = {"triton": "import triton as triton", "tl": "import triton.language as tl"}
    head = "; ".join({**standard, **parts.bindings}.values())
    text = "\n".join([head, *[""] * (line - 3), "@triton.jit", definition.text, *parts.helpers.values()])
    return KernelSource(function.__name__, definition.path, text + "\n", parameters_of(function))


def parameters_of(function: FunctionType) -> tuple[Parameter, ...]:
    out = []
    for parameter in inspect.signature(function).parameters.values():
        annotation = parameter.annotation
        text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
        out.append(Parameter(parameter.name, "constexpr" in text, parameter.default))
    return tuple(out)


@dataclass
class _Definition:
    path: str
    line: int  # of `def`
    text: str  # from `def` on, dedented
    names: set[str]  # names that the body loads


@dataclass
class _Parts:
    bindings: dict[str, str] = field(default_factory=dict)
    helpers: dict[str, str] = field(default_factory=dict)

    def bind(self, name: str, statement: str, kernel: str) -> None:
        known = self.bindings.setdefault(name, statement)
        if known != statement:
            raise RefusalError(
                f"'{kernel}' and the functions that it calls mean different things by '{name}' ({known} / {statement}); "
                "rename one of them",
                "lower.name",
            )


def _definition(function: FunctionType) -> _Definition:
    path = inspect.getsourcefile(function) or function.__code__.co_filename
    try:
        lines, start = inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise UserError(
            f"the source of kernel '{function.__name__}' cannot be read ({path}): tiling parameters are found in the source. "
            "Define it in a file (or a notebook cell), not through exec or on the interactive prompt",
            "io.read",
        ) from None
    dedented = textwrap.dedent("".join(lines))
    node = next(each for each in ast.parse(dedented).body if isinstance(each, ast.FunctionDef))
    text = "\n".join(dedented.splitlines()[node.lineno - 1 :])
    # Names in decorators are not the kernel's.
    node.decorator_list = []
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
    return _Definition(path, max(start, 1) + node.lineno - 1, text, names)


def _free_values(function: FunctionType, names: set[str]) -> dict[str, object]:
    closure = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            closure[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            pass
    scope = {**function.__globals__, **closure}
    return {name: scope[name] for name in sorted(names) if name in scope}


def _collect(function: FunctionType, definition: _Definition, parts: _Parts, seen: set[str]) -> None:
    annotations = function.__globals__.get("__annotations__", {})
    for name, value in _free_values(function, definition.names).items():
        if isinstance(value, ModuleType):
            parts.bind(name, f"import {value.__name__} as {name}", function.__name__)
            continue
        module = getattr(value, "__module__", None) or ""
        if module.startswith("triton.language") and hasattr(value, "__name__") and not _is_literal(value):
            parts.bind(name, f"from {module} import {value.__name__} as {name}", function.__name__)
            continue
        inner = getattr(value, "fn", None)
        if isinstance(inner, FunctionType):
            if inner.__qualname__ in seen:
                continue
            seen.add(inner.__qualname__)
            helper = _definition(inner)
            parts.helpers[name] = "@triton.jit\n" + helper.text
            if name != inner.__name__:
                parts.bind(name, f"{name} = {inner.__name__}", function.__name__)
            _collect(inner, helper, parts, seen)
            continue
        text = _literal(value)
        if text is not None:
            plain = type(value).__name__ != "constexpr" and "constexpr" not in str(annotations.get(name, ""))
            parts.bind(name, f"{name} = {text}" if plain else f"{name}: triton.language.constexpr = {text}", function.__name__)


def _is_literal(value) -> bool:
    return type(value).__name__ in ("constexpr", "dtype")


def _literal(value) -> str | None:
    """Python source for a constant that kernels may use; None for anything else."""
    if type(value).__name__ == "constexpr":
        return _literal(value.value)
    if type(value).__name__ == "dtype" and hasattr(value, "primitive_bitwidth"):
        return f"triton.language.{dtype_name(value)}"
    if value is None or isinstance(value, (bool, int, str)):
        return repr(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f'float("{value}")'
    if isinstance(value, tuple) and all(_literal(each) is not None for each in value):
        return "(" + "".join(f"{_literal(each)}, " for each in value) + ")"
    return None


_TRITON_NAMES = {
    "int1": "int1", "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64",
    "uint8": "uint8", "uint16": "uint16", "uint32": "uint32", "uint64": "uint64",
    "fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64",
    "fp8e4nv": "float8e4nv", "fp8e5": "float8e5", "fp8e4b15": "float8e4b15", "fp8e4b8": "float8e4b8", "fp8e5b16": "float8e5b16",
}  # fmt: skip


def dtype_name(dtype) -> str:
    """The name of a ``tl.dtype`` under ``triton.language``."""
    return _TRITON_NAMES.get(str(dtype), str(dtype))


def decorators_above(function: FunctionType) -> list[str]:
    """Decorators in the source, outermost first, as written; empty when the source is not there."""
    try:
        lines, _ = inspect.getsourcelines(inspect.unwrap(function))
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return []
    node = next((each for each in tree.body if isinstance(each, ast.FunctionDef)), None)
    if node is None:
        return []
    return [ast.unparse(each.func if isinstance(each, ast.Call) else each) for each in node.decorator_list]
