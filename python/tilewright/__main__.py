"""``python -m tilewright`` and the console script: the command line program."""

import os
import sys
from pathlib import Path


def main() -> None:
    # Only the file's place is needed here, so nothing of the package is imported: starting costs no more than Python does.
    root = Path(__file__).resolve().parent
    program = root / "bin" / "tilewright"
    if not program.exists():
        sys.exit(f"tilewright: the command line program is missing from this installation: {program}")
    # TILEWRIGHT_PLUGINS and the like are found relative to the program; only the device descriptions lie elsewhere.
    os.environ.setdefault("TILEWRIGHT_DEVICES", str(root / "devices"))
    os.execv(program, [str(program), *sys.argv[1:]])


if __name__ == "__main__":
    main()
