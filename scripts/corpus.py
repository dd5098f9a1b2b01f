#!/usr/bin/env python3
"""How much of the world's Triton the front end reads: fetches pinned packages, reads every file, lowers every kernel.

    scripts/corpus.py                     all packages of tests/corpus/packages.json
    scripts/corpus.py --tier 1            the small ones
    scripts/corpus.py --package fla-core  one of them
    scripts/corpus.py --fetch             only download
    scripts/corpus.py --markdown FILE     write the table there too

Packages are downloaded once with pip into corpus/ (or $TILEWRIGHT_CORPUS), compared with their pinned sha256 and
unpacked: the .py files only. Nothing of them is installed, imported or run; a source distribution is unpacked in an
environment without setuptools, so that its setup.py cannot run. What cannot be fetched is skipped, visibly.

Which kernels are launched by their package is fixed in tests/corpus/entries.txt: package, file, name@line, ... Per
package the table says: files whose tree equals that of CPython's `ast`, kernels that lower and are analysed fully (ok)
or in part (partial), kernels refused, errors, and the slowest kernel.
"""
import argparse
import ast
import collections
import concurrent.futures
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import warnings
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LISTS = ROOT / "tests" / "corpus"
CORPUS = Path(os.environ.get("TILEWRIGHT_CORPUS", ROOT / "corpus"))
BUILD = Path(os.environ.get("TILEWRIGHT_BUILD_DIR", ROOT / "build" / "release"))
VERSION = f"{sys.version_info.major}.{min(sys.version_info.minor, 13)}"  # of the tree that both sides print
# Wheels of one Python version or platform are fetched for that one, whatever runs this script.
PLATFORMS = ["any", "manylinux1_x86_64", "manylinux_2_24_x86_64", "manylinux_2_27_x86_64", "manylinux_2_28_x86_64"]


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def pip(python, *arguments, **options):
    return subprocess.run([python, "-m", "pip", *arguments], capture_output=True, text=True, **options)


def fetch_wheel(package, folder):
    name = package["file"]
    tag = next((t[2:] for t in ("cp311", "cp312", "py311") if t in name), None)
    target = [f"--python-version={tag}"] if tag else []
    done = pip(sys.executable, "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", folder,
               *(f"--platform={p}" for p in PLATFORMS), *target, f"{package['name']}=={package['version']}")
    if done.returncode != 0:
        raise OSError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "pip failed")
    found = Path(folder) / name
    if not found.exists():
        raise OSError(f"pip fetched another file than {name}")
    if sha256(found) != package["sha256"]:
        raise OSError(f"{name} has another sha256 than the pinned one")
    with zipfile.ZipFile(found) as archive:
        yield from ((n, archive.read(n)) for n in archive.namelist())


def fetch_sdist(package, folder):
    """pip verifies the hash and unpacks, then finds no setuptools and gives up: what is unpacked stays behind."""
    folder = Path(folder)
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    pip(python, "uninstall", "--yes", "--quiet", "setuptools")
    (folder / "wanted.txt").write_text(
        f"{package['name']}=={package['version']} --hash=sha256:{package['sha256']}\n", encoding="utf-8")
    (folder / "tmp").mkdir()
    done = pip(python, "download", "--no-deps", "--no-build-isolation", "--no-clean", "--no-binary=:all:", "--dest",
               folder, "--require-hashes", "-r", folder / "wanted.txt", env={**os.environ, "TMPDIR": str(folder / "tmp")})
    roots = [p.parent for p in folder.glob("tmp/pip-download-*/*/PKG-INFO")]
    if not roots or "DO NOT MATCH" in done.stderr:
        raise OSError((done.stderr.strip().splitlines() or ["pip left nothing behind"])[-1])
    for path in roots[0].rglob("*.py"):
        yield str(path.relative_to(roots[0])), path.read_bytes()


def fetch(package):
    """Makes corpus/NAME; the reason where that is not possible."""
    target, mark = CORPUS / package["name"], CORPUS / package["name"] / ".sha256"
    if mark.exists() and mark.read_text(encoding="utf-8") == package["sha256"]:
        return None
    shutil.rmtree(target, ignore_errors=True)
    try:
        with tempfile.TemporaryDirectory() as folder:
            for name, data in (fetch_sdist if package["kind"] == "sdist" else fetch_wheel)(package, folder):
                path = Path(name)
                if path.suffix == ".py" and not path.is_absolute() and ".." not in path.parts:
                    (target / path).parent.mkdir(parents=True, exist_ok=True)
                    (target / path).write_bytes(data)
    except (OSError, zipfile.BadZipFile, tarfile.TarError, subprocess.SubprocessError) as error:
        shutil.rmtree(target, ignore_errors=True)
        return str(error)
    target.mkdir(parents=True, exist_ok=True)
    mark.write_text(package["sha256"], encoding="utf-8")
    return None


def oracle(source):
    """CPython's tree as text, or None where CPython refuses the file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.dump(ast.parse(source), include_attributes=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def compare_trees(files):
    """(equal, differing paths, not for this Python): ours against CPython's, byte for byte."""
    equal, unknown, different = 0, 0, []
    tool = subprocess.Popen([BUILD / "bin" / "tilewright-ast-dump", "--attributes", "--python", VERSION, "--batch"],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for path in files:
        tool.stdin.write(os.fsencode(path) + b"\n")
        tool.stdin.flush()
        status, length = tool.stdout.readline().split()
        text = tool.stdout.read(int(length)).decode("utf-8", "surrogatepass" if status == b"ok" else "replace")
        tool.stdout.read(1)
        expected = oracle(Path(path).read_bytes())
        if expected is None and status == b"ok":
            unknown += 1  # syntax that is newer than the Python that runs this
        elif (expected is None) == (status != b"ok") and (expected is None or expected == text):
            equal += 1
        else:
            different.append(str(path))
    tool.stdin.close()
    tool.wait()
    return equal, different, unknown


def entries():
    """package -> [(file, [name@line, ...])]"""
    listed = collections.defaultdict(list)
    for line in (LISTS / "entries.txt").read_text(encoding="utf-8").splitlines():
        package, path, *kernels = line.split("\t")
        listed[package].append((path, kernels))
    return listed


def lower(package, listed):
    """The results of tilewright-corpus for a package's kernels, and those of its files."""
    lines = ["\t".join([str(CORPUS / package["name"] / path), *kernels]) for path, kernels in listed]
    done = subprocess.run([BUILD / "bin" / "tilewright-corpus"], input="\n".join(lines) + "\n", capture_output=True,
                          text=True, check=True)
    results = [json.loads(line) for line in done.stdout.splitlines()]
    return [r for r in results if "kernel" in r], [r for r in results if "kernel" not in r]


def measure(package, listed, trees):
    files = sorted((CORPUS / package["name"]).rglob("*.py"))
    equal, different, unknown = compare_trees(files) if trees else (0, [], 0)
    kernels, of_files = lower(package, listed)
    return {"package": package, "files": len(files), "equal": equal, "different": different, "newer": unknown,
            "kernels": kernels, "peakKiB": max((f["peakKiB"] for f in of_files), default=0)}


def count(kernels, *states):
    return sum(k["status"] in states for k in kernels)


def row(name, version, results, trees):
    kernels = [k for r in results for k in r["kernels"]]
    files, equal = sum(r["files"] for r in results), sum(r["equal"] + r["newer"] for r in results)
    slowest = max((k["us"] for k in kernels if "us" in k), default=0)
    full = sum(k["status"] == "ok" and k.get("analysis") == "ok" for k in kernels)
    return [name, version, f"{equal}/{files}" if trees else "-", len(kernels), full, count(kernels, "ok") - full,
            count(kernels, "refused"), count(kernels, "error"), count(kernels, "crash", "hang"), f"{slowest / 1000:.1f}",
            f"{max((r['peakKiB'] for r in results), default=0) / 1024:.0f}"]


HEADER = ["package", "version", "trees equal", "kernels", "ok", "partial", "refused", "error", "crash or hang",
          "slowest (ms)", "memory (MiB)"]


def report(results, skipped, trees):
    """The table, the refusals by code, the slowest kernels: as Markdown."""
    rows = [row(r["package"]["name"], r["package"]["version"], [r], trees) for r in results]
    rows.append(row("**all**", "", results, trees))
    lines = ["| " + " | ".join(map(str, line)) + " |" for line in [HEADER, ["---"] * len(HEADER), *rows]]
    kernels = [k for r in results for k in r["kernels"]]
    lowered = count(kernels, "ok")
    times = sorted(k["us"] for k in kernels if "us" in k)
    if kernels:
        quick = sum(t <= 1000 for t in times) / len(times)
        lines += ["", f"{lowered} of {len(kernels)} kernels lower ({lowered / len(kernels):.1%}); {quick:.1%} take at most 1 ms, "
                  f"the median is {times[len(times) // 2] / 1000:.2f} ms, "
                  f"{sum(t > 20000 for t in times)} take more than 20 ms."]
    codes = collections.Counter(k["code"] for k in kernels if k["status"] != "ok")
    if codes:
        lines += ["", "Not lowered, by code: " + ", ".join(f"{code} {n}" for code, n in codes.most_common()) + "."]
    for package, reason in skipped:
        lines.append(f"\nSKIPPED {package['name']} {package['version']}: {reason}")
    for r in results:
        lines += [f"\nDIFFERENT TREE {path}" for path in r["different"]]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tier", type=int, default=3, help="packages up to this tier: 1 small, 2 to 60 MB, 3 larger")
    parser.add_argument("--package", action="append", help="only these")
    parser.add_argument("--fetch", action="store_true", help="only download")
    parser.add_argument("--no-trees", action="store_true", help="do not compare trees with CPython's")
    parser.add_argument("--markdown", type=Path, help="write the report there too")
    parser.add_argument("--json", type=Path, help="write every kernel's result there, one a line")
    options = parser.parse_args()
    packages = [p for p in json.loads((LISTS / "packages.json").read_text(encoding="utf-8"))
                if (p["name"] in options.package if options.package else p["tier"] <= options.tier)]
    results, skipped, listed = [], [], entries()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for package, reason in zip(packages, pool.map(fetch, packages)):
            if reason:
                skipped.append((package, reason))
    if not options.fetch:
        ready = [p for p in packages if not any(p is s for s, _ in skipped)]
        with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
            tasks = [pool.submit(measure, p, listed[p["name"]], not options.no_trees) for p in ready]
            results = [task.result() for task in tasks]
    lines = report(results, skipped, not options.no_trees)
    print("\n".join(lines))
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            for r in results:
                for kernel in r["kernels"]:
                    print(json.dumps(kernel), file=file)
    crashed = count([k for r in results for k in r["kernels"]], "crash", "hang")
    return 1 if crashed or any(r["different"] for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
