"""What the user sees of a tuning: a progress line on a terminal, and lines when TRITON_PRINT_AUTOTUNING is set."""

from __future__ import annotations

import statistics
import sys


def human_time(ns: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"


def quantiles_ms(trial: dict) -> list[float]:
    """[median, 20 %, 80 %] in milliseconds; infinities for a trial without a time."""
    samples = sorted(trial["samples_ns"]) or ([trial["time_ns"]] if trial["time_ns"] > 0 else [])
    if not samples or trial["time_ns"] <= 0:
        return [float("inf")] * 3

    def at(part: float) -> float:
        return samples[min(len(samples) - 1, int(part * len(samples)))] / 1e6

    return [trial["time_ns"] / 1e6, at(0.2), at(0.8)]


def community_line(kernel: str, key: tuple, seconds: float, config) -> str:
    return f"Triton autotuning for function {kernel},\nwith key as {key},\nfinished after {seconds:.2f}s,\nbest config selected: {config};"


def summary(result: dict) -> str:
    """One line: generated, dropped per reason, measured, best and how far it is ahead."""
    trials = result["trials"]
    dropped: dict[str, int] = dict(result["rejected"])
    for trial in trials:
        if trial["code"]:
            dropped[trial["code"]] = dropped.get(trial["code"], 0) + 1
    times = [trial["time_ns"] for trial in trials if trial["time_ns"] > 0]
    text = f"tilewright: {'remembered, ' if result['cached'] else ''}{len(trials)} candidates, {len(times)} measured"
    if dropped:
        text += " (dropped: " + ", ".join(f"{count} {code}" for code, count in sorted(dropped.items())) + ")"
    text += f"; best {human_time(result['time_ns'])}"
    if len(times) > 1 and result["time_ns"] > 0:
        text += f", {statistics.median(times) / result['time_ns']:.2f} times faster than the median, {max(times) / result['time_ns']:.2f} than the worst"
    return text


class Progress:
    """A line on standard error that is overwritten, when it is a terminal and tuning takes more than a second."""

    def __init__(self, kernel: str):
        self._kernel = kernel
        self._terminal = sys.stderr is not None and sys.stderr.isatty()
        self._shown = 0

    def __enter__(self):
        return self if self._terminal else None

    def __exit__(self, *_):
        if self._shown:
            sys.stderr.write("\r" + " " * self._shown + "\r")
            sys.stderr.flush()

    def __call__(self, phase, total, compiled, checked, failed, racing, best_ns, seconds):
        if seconds < 1 or phase == "done":
            return
        text = f"tuning {self._kernel}: {compiled}/{total} compiled, {checked} checked"
        if failed:
            text += f", {failed} failed"
        if phase == "race":
            text += f", {racing} racing"
        if best_ns > 0:
            text += f", best {human_time(best_ns)}"
        sys.stderr.write("\r" + text.ljust(self._shown))
        sys.stderr.flush()
        self._shown = len(text)
