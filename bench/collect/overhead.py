#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What collection costs programs on this machine's GPU (docs/collect.md, "What it costs").

    overhead.py [options] COMMAND [ARGUMENT...]   one command
    overhead.py [options]                         the programs of work.cu and train.py, as long as --seconds says

Each command runs without anything and under `warplens run --on gpu`, in turn. "program": from its start to its end, as
whoever waits for it sees it; "run": `warplens run` as a whole, with what it does when the program has ended (-q).
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = {"products": 800, "launches": 8000, "waited": 8000, "streams": 2000, "short": 20000}  # and counts that take about a second


def timed(command, out=subprocess.DEVNULL):
    begin = time.monotonic()
    subprocess.run(command, stdout=out, check=True)
    return time.monotonic() - begin


def collected(warplens, options, command, folder):
    """Seconds of the program itself, and of `warplens run`."""
    note = os.path.join(folder, "seconds")
    child = [sys.executable, os.path.abspath(__file__), "--child", note, *command]
    whole = timed([warplens, "run", "--on", "gpu", "-q", "-f", "-o", os.path.join(folder, "a.wlp"), *options, "--", *child])
    with open(note) as file:
        return float(file.read()), whole


def plain(command, folder):
    note = os.path.join(folder, "seconds")
    timed([sys.executable, os.path.abspath(__file__), "--child", note, *command])
    with open(note) as file:
        return float(file.read())


def spread(times):
    return f"{statistics.median(times):.3f} s [{min(times):.3f}-{max(times):.3f}]"


def compare(name, command, args):
    without, program, whole = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(args.rounds):
            without.append(plain(command, folder))
            own, all_of_it = collected(args.warplens, args.option, command, folder)
            program.append(own)
            whole.append(all_of_it)
    more = statistics.median(program) - statistics.median(without)
    print(f"| {name} | {args.rounds} | {spread(without)} | {spread(program)} | {1000 * more:+.0f} ms, "
          f"{100 * more / statistics.median(without):+.1f} % | {spread(whole)} |", flush=True)


def count_for(command, kind, seconds):
    """How many launches take so long: their time grows with their number."""
    few, many = KINDS[kind] // 8, KINDS[kind]
    short, long = (min(timed([*command, kind, str(n)]) for _ in range(2)) for n in (few, many))
    return max(1, round(few + (seconds - short) * (many - few) / (long - short)))


def build(folder):
    work = os.path.join(folder, "work")
    subprocess.run(["nvcc", "-O3", "-lineinfo", "-arch=native", "-o", work, os.path.join(HERE, "work.cu")], check=True)
    return work


def train_steps(seconds):
    """Steps of train.py that take so long with its start, which varies by more than 100 steps take: the first run reads
    PyTorch from the disk, the second one says what it took until the first step has ended, and a step. 0: there is no
    PyTorch."""
    steps = 200
    command = [sys.executable, os.path.join(HERE, "train.py"), str(steps)]
    try:
        timed(command)
        begin = time.monotonic()
        said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    except subprocess.CalledProcessError:
        return 0
    first, last = (float(text) for text in said.split("times")[1].split()[-2:])
    return max(1, round((seconds - (first - begin)) / (last - first) * (steps - 1)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--rounds", type=int, default=4)
    parser.add_argument("-s", "--seconds", type=float, default=5)
    parser.add_argument("-w", "--warplens", default=os.path.join(HERE, "../../build/release/bin/warplens"))
    parser.add_argument("-O", "--option", action="append", default=[], help="of `warplens run`, such as --sampling=off")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    print("| program | pairs | without | with | more | `warplens run` |\n|---|---|---|---|---|---|")
    if args.command:
        compare(re.sub(r"\|", "/", " ".join(args.command)), args.command, args)
        return
    with tempfile.TemporaryDirectory() as folder:
        work = build(folder)
        for first in ([], ["-c"]):
            for kind in KINDS:
                command = [work, *first]
                compare(" ".join([*first, kind]), [*command, kind, str(count_for(command, kind, args.seconds))], args)
    if steps := train_steps(args.seconds):
        compare("training with PyTorch", [sys.executable, os.path.join(HERE, "train.py"), str(steps)], args)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        seconds = timed(sys.argv[3:], None)
        with open(sys.argv[2], "w") as file:
            file.write(str(seconds))
    else:
        main()
