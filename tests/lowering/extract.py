"""A kernel of a foreign file as a module of its own: the function, the jit functions and plain constants of its file
that it needs, and imports of triton. The file itself is read, never executed; nothing but jit functions, literals and
Triton's own names gets into the module. A kernel that needs more is left out."""
import ast
import builtins
import textwrap

_JIT = {"jit", "triton.jit"}


class NeedsMore(Exception):
    """The kernel uses something that is neither Triton's, a constant nor a jit function of its file."""


def dotted(node):
    if isinstance(node, ast.Call):
        node = node.func
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def is_jit(function):
    return any(dotted(d) in _JIT for d in function.decorator_list)


def is_constant(node):
    """A literal, arithmetic on literals, or tl.constexpr of one."""
    if isinstance(node, ast.Call):
        return dotted(node).endswith("constexpr") and len(node.args) == 1 and not node.keywords and is_constant(node.args[0])
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(map(is_constant, node.elts))
    if isinstance(node, ast.BinOp):
        return is_constant(node.left) and is_constant(node.right)
    if isinstance(node, ast.UnaryOp):
        return is_constant(node.operand)
    return isinstance(node, ast.Constant)


def is_name(node):
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


class File:

    def __init__(self, text):
        self.text = text
        self.functions, self.constants, self.imports = {}, {}, {}
        for node in self.statements(ast.parse(text).body):
            if isinstance(node, ast.FunctionDef) and is_jit(node):
                self.functions[node.name] = node
            elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and is_constant(node.value):
                self.constants[node.targets[0].id] = node
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value and is_constant(node.value):
                self.constants[node.target.id] = node
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                self.read_import(node)

    def statements(self, body):
        """Top-level statements, those of `try:` and `if` first branches included."""
        for node in body:
            if isinstance(node, (ast.Try, ast.If)):
                yield from self.statements(node.body)
            else:
                yield node

    def read_import(self, node):
        for alias in node.names:
            module = alias.name if isinstance(node, ast.Import) else node.module or ""
            if module.split(".")[0] == "triton" and not getattr(node, "level", 0):
                bound = alias.asname or alias.name.split(".")[0]
                short = ast.Import([alias]) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, [alias], 0)
                self.imports.setdefault(bound, []).append(ast.unparse(short))

    def kernels(self):
        """Jit functions that can be launched: they return nothing."""
        returns = lambda f: any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(f))
        return [name for name, function in self.functions.items() if not returns(function)]

    def module_of(self, kernel):
        """Source text of a module that defines `kernel`."""
        wanted, done, parts, imports = [kernel], set(), [], {"import triton", "import triton.language as tl"}
        while wanted:
            name = wanted.pop()
            if name in done:
                continue
            done.add(name)
            if name in self.functions:
                function = self.functions[name]
                parts.append((function.lineno, self.source_of(function)))
                wanted += sorted(self.free_names(function))
            elif name in self.constants:
                node = self.constants[name]
                parts.append((node.lineno, ast.unparse(node)))
                wanted += [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n.id != name]
            elif name in self.imports:
                imports.update(self.imports[name])
            elif not hasattr(builtins, name):
                raise NeedsMore(name)
        return "\n".join(sorted(imports)) + "\n\n\n" + "\n\n\n".join(text for _, text in sorted(parts)) + "\n"

    def source_of(self, function):
        defaults = [*function.args.defaults, *(d for d in function.args.kw_defaults if d)]
        if not all(is_constant(d) or is_name(d) for d in defaults):
            raise NeedsMore("a computed default")
        first = self.text.splitlines()[function.lineno - 1:function.end_lineno]
        return "@triton.jit\n" + textwrap.dedent("\n".join(first))

    def free_names(self, function):
        bound = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
        nodes = [n for part in [function.args, *function.body] for n in ast.walk(part)]
        bound |= {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)} - bound
