#!/usr/bin/env python3
"""Checks that every module includes only the modules it may know, and that LLVM stays inside the CPU back end.

The table is the one of docs/architecture.md. Prints each offending line and exits with 1 when there is one.
"""
import pathlib
import re
import sys

ALLOWED = {
    "support": set(),
    "lang": {"support"},
    "program": {"support", "lang"},
    "interp": {"support", "program"},
    "analysis": {"support", "program", "lang"},
    "target": {"support"},
    "space": {"support", "program", "analysis", "target"},
    "model": {"support", "program", "analysis", "target", "space"},
    "store": {"support"},
    "backend": {"support", "program", "interp", "analysis", "target", "space", "model"},
    "tuner": {"support", "program", "interp", "analysis", "target", "space", "model", "backend", "store"},
    "dispatch": {"support", "program", "interp", "analysis", "target", "space", "model", "backend", "store", "tuner"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def main() -> int:
    root = pathlib.Path(__file__).resolve().parent.parent
    problems = []
    for top in (root / "src", root / "include" / "tilewright"):
        for path in sorted(top.rglob("*")):
            if path.suffix not in {".h", ".cpp", ".def"}:
                continue
            relative = path.relative_to(top)
            module = relative.parts[0] if len(relative.parts) > 1 else None
            in_cpu = relative.parts[:2] == ("backend", "cpu")
            for number, line in enumerate(path.read_text().splitlines(), 1):
                found = INCLUDE.match(line)
                if not found:
                    continue
                included = found.group(1)
                where = f"{path.relative_to(root)}:{number}"
                if re.match(r"(mlir|llvm)(-c)?/", included) and not in_cpu:
                    problems.append(f"{where}: only backend/cpu may include {included}")
                if included.startswith("tilewright/") and module in ALLOWED:
                    parts = included.split("/")
                    other = parts[1] if len(parts) > 2 else "facade"
                    if other != module and other not in ALLOWED[module]:
                        problems.append(f"{where}: {module} must not know {other} ({included})")
                if included == "nlohmann/json.hpp" and path.suffix == ".h" and top.name == "tilewright":
                    problems.append(f"{where}: public headers do not include nlohmann/json.hpp")
    print("\n".join(problems) if problems else "include rules hold")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
