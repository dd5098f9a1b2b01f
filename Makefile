# Targets for people; the build itself is CMake (presets in CMakePresets.json).
.PHONY: help setup setup-test build dev asan tsan python demo test test-fast corpus bench bench-space fuzz format lint docs clean
.DEFAULT_GOAL := help

PY := .venv/bin/python
CMAKE_PYTHON = -DPython_EXECUTABLE=$(CURDIR)/.venv/bin/python

help: ## what there is to make
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

setup: ## install what is missing (Debian packages, .venv)
	@scripts/setup.sh

setup-test: ## ... and what the tests need
	@scripts/setup.sh --test

build: setup ## release build, with the Python package installed into .venv
	cmake --preset release $(CMAKE_PYTHON) >build-release.log 2>&1 || (cat build-release.log; exit 1)
	cmake --build --preset release
	@scripts/install-python.sh

demo: build ## the main job, twice: command line and Python
	@scripts/demo.sh

test: setup-test build ## everything, sanitizer builds and fuzzing too
	@scripts/run-tests.sh

test-fast: ## the quick tests of what is built already (under 2 minutes)
	cmake --build --preset release
	@scripts/run-tests.sh --fast

asan: setup-test ## quick C++ tests under AddressSanitizer and UBSan
	cmake --preset asan && cmake --build --preset asan
	ulimit -s 262144; ctest --test-dir build/asan --output-on-failure

tsan: setup-test ## quick C++ tests under ThreadSanitizer
	cmake --preset tsan && cmake --build --preset tsan
	ctest --test-dir build/tsan --output-on-failure -R '^(tuner|dispatch|store)$$'

fuzz: setup-test ## libFuzzer under the sanitizers: lexer, parser, lowering, Program reader, 60 s each (TILEWRIGHT_FUZZ_SECONDS)
	@scripts/fuzz.sh

corpus: setup-test build ## reads public kernels: downloads pinned packages once, prints how many lower
	.venv/bin/python scripts/corpus.py

bench: build ## ratios against peers, medians, in one run
	@scripts/bench.sh

bench-space: build ## order of candidates on recorded times, and how fast it is found (data: TILEWRIGHT_GRIDS)
	@scripts/bench-space.sh

format: ## clang-format over all C++ files
	git ls-files '*.cpp' '*.h' | xargs clang-format-22 -i

lint: ## include rules, formatting, clang-tidy
	@scripts/lint.sh

clean: ## forget all builds
	rm -rf build build-release.log
