"""What must be equal in our Program and in Triton's own IR: loads, stores, atomics, dots, reductions, scans and what
loops carry, each with its types, and how often. Both texts are read here.

Triton's front end is asked for its IR before any pass, so what is compared is what the language says, not what an
optimiser left of it.
"""
import collections
import re

MLIR = {"u8": "i8", "u16": "i16", "u32": "i32", "u64": "i64"}
TRITON_DTYPES = {"f64": "fp64", "f32": "fp32", "f16": "fp16", "bf16": "bf16", "f8e4m3": "fp8e4nv", "f8e5m2": "fp8e5", "f8e4b15": "fp8e4b15",
                 "f8e4b8": "fp8e4b8", "f8e5b16": "fp8e5b16"}  # yapf: disable


def triton_ir(function, signature, constants):
    """Triton's IR of a jit function before any pass, for an H100's back end. Needs no GPU."""
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import ASTSource, make_backend

    target = GPUTarget("cuda", 90, 32)
    backend = make_backend(target)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    options = backend.parse_options({"debug": True, "sanitize_overflow": False})  # device_assert counts
    source = ASTSource(function, signature, constants)
    module = source.make_ir(target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context)
    return str(module)


def normal(text):
    """One spelling of a type: "16x32xf32", pointers as what they point at."""
    text = re.sub(r"!tt\.ptr<([a-z0-9]+)>|ptr<([a-z0-9]+)>", lambda m: m.group(1) or m.group(2), text)
    text = re.sub(r"(?:tensor|tile|descriptor|!tt\.tensordesc)<(.*)>", r"\1", text).replace(" x ", "x").strip()
    return "x".join(MLIR.get(part, part) for part in text.split("x"))


def reachable(lines):
    """A function's lines without blocks that can't be reached: what follows a `return` in the source."""
    blocks, entered_from = [[]], [None]  # the entry block has no label
    for line in lines:
        if re.match(r"\s*\^bb\d+", line):
            blocks.append([])
            entered_from.append(re.findall(r"\^bb\d+", line.split("//")[1]) if "//" in line else [])
        blocks[-1].append(line)
    labels = [re.match(r"\s*(\^bb\d+)", block[0]).group(1) if entered_from[i] is not None else "^bb0" for i, block in enumerate(blocks)]
    alive = {"^bb0"}
    while True:
        more = {label for label, preds in zip(labels, entered_from) if preds and alive & set(preds)} - alive
        if not more:
            return [line for label, block in zip(labels, blocks) for line in block if label in alive]
        alive |= more


def whole_ops(lines):
    """Lines in groups: a reduction or scan with its region is one."""
    groups, inside = [], False
    for line in lines:
        if inside:
            groups[-1].append(line)
            inside = not re.match(r"\s*\}\) : ", line)
        else:
            groups.append([line])
            inside = bool(re.search(r'"tt\.(reduce|scan)"\(.*\(\{', line))
    return groups


IMPURE = re.compile(r"tt\.(store|atomic|descriptor_store|descriptor_scatter|assert|print|extern|elementwise_inline|map)|isVolatile = true")
CALL = re.compile(r"tt\.call @(\"[^\"]*\"|[\w.$]+)\(")


def pure_functions(functions):
    """Names of the functions that only compute their results."""
    pure = {name for name, lines in functions.items() if not any(IMPURE.search(line) for line in lines)}
    while True:
        calls_others = {name for name in pure if any(c.strip('"') not in pure for line in functions[name] for c in CALL.findall(line))}
        if not calls_others:
            return pure
        pure -= calls_others


def without_dead_loads(lines, pure):
    """A function's lines without loads, pure operations and calls of pure functions whose result is never used."""
    defines = re.compile(r"\s*(%[\w]+)(?::\d+)? = \"?(?:tt|arith|math)\.\w+")

    def has_effect(line):
        call = CALL.search(line)
        return call.group(1).strip('"') not in pure if call else bool(IMPURE.search(line))

    groups = whole_ops(lines)
    while True:
        uses = collections.Counter(name for group in groups for line in group for name in re.findall(r"%\w+", re.sub(r" loc\(.*", "", line)))
        kept = []
        for group in groups:
            match = defines.match(group[0])
            if not (match and uses[match.group(1)] == 1 and not any(map(has_effect, group))):
                kept.append(group)
        if len(kept) == len(groups):
            return [line for group in kept for line in group]
        groups = kept


#: Functions of triton.language that are one operation here.
ONE_OPERATION = re.compile(r"triton\.language\.standard\.(sort|topk|flip|_bitonic|bitonic|_compare_and_swap|_indicator)")


def facts_of_triton(text):
    """Facts with their number; the body of a helper counts once for each call of it. What can't be reached or is
    loaded for nothing doesn't count: we don't keep it either."""
    functions, name = collections.defaultdict(list), None
    for line in text.splitlines():
        start = re.match(r"\s*tt\.func \w+ @(\"[^\"]*\"|[\w.$]+)\(", line)
        if start:
            name = start.group(1).strip('"')
        if name:
            functions[name].append(line)
    functions = {name: reachable(lines) for name, lines in functions.items()}
    pure = pure_functions(functions)
    functions = {name: without_dead_loads(lines, pure) for name, lines in functions.items()}
    kernel = next(n for n, lines in functions.items() if " public " in lines[0])

    def facts(name):
        counts, pending = collections.Counter(), None
        for line in functions[name]:
            call = CALL.search(line)
            if call and not ONE_OPERATION.match(call.group(1).strip('"')):
                counts += facts(call.group(1).strip('"'))
            types = re.sub(r" loc\(.*", "", line)
            for op in ("load", "store", "atomic_rmw", "atomic_cas", "descriptor_load", "descriptor_store"):
                if re.search(rf"\btt\.{op} ", types):
                    written = types.rsplit(" : ", 1)[1]
                    if op == "atomic_rmw":
                        written = written.split(")")[0].strip("( ").split(", ")[0]
                    if op == "atomic_cas":
                        written = written.strip("( ").split(", ")[0]
                    if op == "descriptor_load":
                        written = written.split(" -> ")[1]
                    if op == "descriptor_store":
                        written = written.split(", ")[1]
                    counts[op, normal(written)] += 1
            if " tt.dot " in types:
                a, b, result = re.match(r".* : (\S+) \* (\S+) -> (\S+)", types).groups()
                counts["dot", normal(a), normal(b), normal(result)] += 1
            started = re.search(r'"tt\.(reduce|scan)"', types)
            if started:
                pending = started.group(1)
            if pending and re.match(r"\s*\}\) : ", types):
                operands, results = re.match(r"\s*\}\) : \((.*)\) -> (.*)", types).groups()
                split = lambda t: tuple(normal(x) for x in re.findall(r"tensor<[^>]*>|[a-z]\w*", t))
                counts[pending, split(operands), split(results)] += 1
                pending = None
            loop = re.search(r"scf\.for .*iter_args\(.*\) -> \((.*)\)", types)
            if loop:
                carried = re.findall(r"tensor<(?:[^<>]|<[^>]*>)*>|!tt\.ptr<\w+>|\w+", loop.group(1))
                counts["for", tuple(sorted(normal(t) for t in carried))] += 1
        return counts

    return facts(kernel)


def facts_of_program(text):
    counts, types = collections.Counter(), {}
    for name, written in re.findall(r"%([\w.]+): ((?:tile|descriptor)<(?:[^<>]|<[^>]*>)*>|ptr<\w+>|\w+)", text):
        types[name] = normal(written)
    type_list = r"(?:(?:tile|descriptor)<(?:[^<>]|<[^>]*>)*>|ptr<\w+>|\w+)"
    for line in text.splitlines():
        match = re.match(r"\s*(?:(%[^=]*?) = )?([a-z_]+)((?: %[\w.]+,?)*)(.*)", line)
        if not match or match.group(2) in ("kernel", "symbol", "require", "path", "source", "remark"):
            continue
        results, op, operands, tail = match.groups()
        operands = [o.strip(" ,%") for o in operands.split()]
        result_types = []
        if results:
            after = re.sub(r"^ \{[^}]*\}", "", tail)
            listed = re.match(rf" : ({type_list}(?: = [^,{{]*)?(?:, {type_list}(?: = [^,{{]*)?)*)", after)
            result_types = [normal(t) for t in re.findall(rf"(?:^|, )({type_list})", listed.group(1))] if listed else []
            for name, written in zip(results.split(", "), result_types):
                types[name.strip("%")] = written
        if op in ("load", "descriptor_load"):
            counts[op, result_types[0]] += 1
        elif op == "store":
            counts[op, types[operands[0]]] += 1
        elif op == "descriptor_store":
            counts[op, types[operands[1]]] += 1
        elif op == "atomic_rmw" and re.search(r'operation = "(max|min)"', tail) and re.search(r"f(32|64)$", types[operands[0]]):
            # Triton's front end makes two integer atomics of it, one for either sign
            counts[op, re.sub(r"f(32|64)$", r"i\1", types[operands[0]])] += 2
        elif op in ("atomic_rmw", "atomic_cas"):
            counts[op, types[operands[0]]] += 1
        elif op == "dot":
            counts["dot", types[operands[0]], types[operands[1]], result_types[0]] += 1
        elif op in ("reduce", "scan"):
            counts[op, tuple(types[o] for o in operands), tuple(result_types)] += 1
        elif op == "for" and result_types:
            counts["for", tuple(sorted(result_types))] += 1
    return counts
