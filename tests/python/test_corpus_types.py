"""Types and shapes of loads, stores, dots and reductions in public kernels equal those in Triton's own IR, for concrete
arguments. The packages are the tier-1 part of corpus/ (downloaded by scripts/corpus.py); none is executed."""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(os.environ.get("TILEWRIGHT_CORPUS", ROOT / "corpus"))


@pytest.mark.slow
def test_corpus_kernels_have_tritons_types():
    pytest.importorskip("triton")
    if not CORPUS.is_dir():
        pytest.skip(f"{CORPUS} is missing: download it with scripts/corpus.py, or set TILEWRIGHT_CORPUS")
    done = subprocess.run([sys.executable, str(ROOT / "tests" / "lowering" / "compare_corpus.py"), str(CORPUS), "--limit", "250", "--json"],
                          capture_output=True, text=True, timeout=1500)  # yapf: disable
    counts = json.loads(done.stdout.splitlines()[-1])
    assert counts.get("DIFFERENT", 0) == 0, done.stdout
    if counts.get("equal", 0) < 200:
        pytest.skip(f"only {counts.get('equal', 0)} kernels of {CORPUS} could be compared: download more packages")
