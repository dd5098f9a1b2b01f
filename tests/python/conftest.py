"""What the Python tests share: a store of their own, and no Tilewright in Triton unless a test asks for it."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TILEWRIGHT_BUILD_DIR", ROOT / "build" / "release"))


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: not part of the quick run")


@pytest.fixture(autouse=True)
def own_store(tmp_path, monkeypatch):
    """Nothing that another test or the user tuned is remembered."""
    monkeypatch.setenv("TILEWRIGHT_STORE", str(tmp_path / "store.db"))


@pytest.fixture
def command_line():
    program = BUILD / "bin" / "tilewright"
    if not program.exists():
        pytest.fail(f"{program} is missing: build it, or set TILEWRIGHT_BUILD_DIR")
    return program
