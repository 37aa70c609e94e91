#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares for which reasons warps waited, launch by launch: simulated, and as Nsight Compute counted it on a GPU.

    tools/stall_shares.py STALLS.csv FOLDER [FOLDER2 ...] [--only REGEX] [--top N]
    tools/stall_shares.py --from-ncu RAW.csv[.xz] ... > STALLS.csv

STALLS.csv (bench/hwref/h200-stalls.csv) has a row for each launch: run, launch, kernel, cycles, instructions issued, warp
cycles per instruction issued, and of these the share of each reason. FOLDER has RUN.json for each run, what `warplens report
--format json` says of a profile with timing; of several folders, states of the model, one after the other is compared.

Prints a row for each launch: the distance of both distributions (half the sum of the differences of all shares: 0 % the
same, 100 % nothing in common), and the reasons that differ most. Then, over kernels (launches of a kernel in a run count as
one): mean and median distance, how often the reason that comes first is the same (`selected` is none), and for each
reason both mean shares, their difference, and the mean of the kernels' absolute differences. `tools/compare_hardware.py
--stalls STALLS.csv` prints the same behind its own figures. --from-ncu makes STALLS.csv of `ncu --csv --page raw`, one
file for each run (RUN.csv), with the metrics sm__cycles_elapsed.max, smsp__inst_issued.sum and
smsp__average_warps_issue_stalled_REASON_per_issue_active.ratio of every reason.
Exit code: 0, or 1 when no launch is in both.
"""
import argparse
import csv
import io
import json
import lzma
import os
import re
import statistics
import sys

CYCLES = "sm__cycles_elapsed.max"
ISSUED = "smsp__inst_issued.sum"
RATIO = "smsp__average_warps_issue_stalled_%s_per_issue_active.ratio"
REASONS = ("selected", "not_selected", "wait", "long_scoreboard", "short_scoreboard", "imc_miss", "no_instruction",
           "branch_resolving", "barrier", "membar", "math_pipe_throttle", "mio_throttle", "lg_throttle", "tex_throttle",
           "gmma", "sleeping", "drain", "dispatch_stall", "misc")
COLUMNS = ("run", "launch", "kernel", "cycles", "issued", "warp_cycles_per_issue") + REASONS


def short_name(kernel):
    """The name without what it is a template of, its parameters and the namespaces, which tools write differently."""
    return re.sub(r"^void ", "", kernel).split("(")[0].split("<")[0].split("::")[-1]


def shares_of(metrics):
    """reason -> share of the warps' cycles, from metrics by name; None without any."""
    ratios = {r: metrics.get(RATIO % r) or 0 for r in REASONS}
    total = sum(ratios.values())
    return {r: v / total for r, v in ratios.items()} if total else None


def distance(a, b):
    return sum(abs(a[r] - b[r]) for r in REASONS) / 2


def first(shares):
    return max((r for r in REASONS if r != "selected"), key=lambda r: shares[r])


# --- what the GPU counted -----------------------------------------------------------------------------------------------

def read_stalls(path):
    """(run, launch) -> (kernel, shares)."""
    with open(path, encoding="utf-8", newline="") as file:
        return {(row["run"], int(row["launch"])): (row["kernel"], {r: float(row[r]) for r in REASONS})
                for row in csv.DictReader(file)}


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return 0.0


def read_raw(path):
    """Rows of Nsight Compute's table, without the row of units and what the program printed before."""
    with (lzma.open if path.endswith(".xz") else open)(path, "rt", encoding="utf-8", errors="replace") as file:
        lines = [line for line in file if line.startswith('"')]
    rows = list(csv.DictReader(io.StringIO("".join(lines))))
    return [row for row in rows if (row.get("ID") or "").isdigit()]


def write_stalls(paths, file):
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for path in sorted(paths, key=os.path.basename):
        run = re.sub(r"\.csv(\.xz)?$", "", os.path.basename(path))
        for index, row in enumerate(read_raw(path)):
            metrics = {m: number(v) for m, v in row.items() if m and v}
            shares = shares_of(metrics)
            if shares:
                per_issue = sum(metrics.get(RATIO % r, 0) for r in REASONS)
                writer.writerow([run, index, short_name(row["Kernel Name"]), f"{metrics[CYCLES]:.0f}", f"{metrics[ISSUED]:.0f}",
                                 f"{per_issue:.4g}"] + [f"{shares[r]:.4f}".rstrip("0").rstrip(".") for r in REASONS])


# --- the simulator ------------------------------------------------------------------------------------------------------

def read_report(path):
    """Launches of a report in order: (kernel, metrics)."""
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    launches = sorted(((l["index"], k["name"], l["metrics"]) for k in report["kernels"] for l in k["launches"]), key=lambda l: l[0])
    return [(name, metrics) for _, name, metrics in launches]


def read_folder(folder, runs):
    """(run, launch) -> (kernel, shares) of the runs that have a report there."""
    found = {}
    for run in runs:
        path = os.path.join(folder, run + ".json")
        if os.path.exists(path) and os.path.getsize(path):
            for index, (kernel, metrics) in enumerate(read_report(path)):
                shares = shares_of(metrics)
                if shares:
                    found[run, index] = (kernel, shares)
    return found


# --- the comparison -----------------------------------------------------------------------------------------------------

def print_launches(pairs, top):
    for run, index, kernel, real, simulated in pairs:
        by_difference = sorted(REASONS, key=lambda r: -abs(simulated[r] - real[r]))[:top]
        shown = "  ".join(f"{r} {100 * simulated[r]:.1f} / {100 * real[r]:.1f}" for r in by_difference)
        print(f"{run:38} {index}  {kernel[:28]:28} {100 * distance(simulated, real):5.1f} %  {shown}")


def mean_shares(shares):
    return {r: statistics.fmean(s[r] for s in shares) for r in REASONS}


def by_kernel(pairs):
    """Means over the launches of each kernel of a run: [(real, simulated)]."""
    kernels = {}
    for run, _, kernel, real, simulated in pairs:
        kernels.setdefault((run, kernel), []).append((real, simulated))
    return [tuple(map(mean_shares, zip(*launches))) for launches in kernels.values()]


def print_stalls(real, simulated, top=6):
    """Launches in both of {(run, launch): (kernel, shares)}; the number of them."""
    pairs = [(run, index, kernel, shares, simulated[run, index][1]) for (run, index), (kernel, shares) in real.items()
             if (run, index) in simulated and short_name(simulated[run, index][0]) == short_name(kernel)]
    if not pairs:
        return 0
    print("reasons of stalls: distance of the distributions, the shares that differ most (simulated / real, %)")
    print_launches(pairs, top)
    kernels = by_kernel(pairs)
    distances = [distance(r, s) for r, s in kernels]
    same = sum(first(r) == first(s) for r, s in kernels)
    print(f"\n{len(pairs)} launches, {len(kernels)} kernels: distance of the shares of stall reasons, mean "
          f"{100 * statistics.fmean(distances):.1f} %, median {100 * statistics.median(distances):.1f} %; "
          f"the same reason comes first in {same} of {len(kernels)}")
    print(f"{'reason':20} {'real %':>8} {'simulated':>10} {'difference':>11} {'mean of kernels':>16}")
    means = mean_shares([r for r, _ in kernels]), mean_shares([s for _, s in kernels])
    for reason in sorted(REASONS, key=lambda r: -means[0][r]):
        spread = statistics.fmean(abs(s[reason] - r[reason]) for r, s in kernels)
        if means[0][reason] or means[1][reason]:
            print(f"{reason:20} {100 * means[0][reason]:8.1f} {100 * means[1][reason]:10.1f} "
                  f"{100 * (means[1][reason] - means[0][reason]):+11.1f} {100 * spread:16.1f}")
    return len(pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("paths", nargs="+", help="STALLS.csv and folders of reports; with --from-ncu Nsight Compute's tables")
    parser.add_argument("--from-ncu", action="store_true", help="write STALLS.csv")
    parser.add_argument("--only", default="", help="only runs whose name matches this regular expression")
    parser.add_argument("--top", type=int, default=6, help="reasons shown of each launch (default 6)")
    options = parser.parse_args()
    if options.from_ncu:
        write_stalls(options.paths, sys.stdout)
        return 0
    real = {k: v for k, v in read_stalls(options.paths[0]).items() if re.search(options.only, k[0])}
    runs = sorted({run for run, _ in real})
    found = 0
    for folder in options.paths[1:]:
        print(f"== {folder}")
        found += print_stalls(real, read_folder(folder, runs), options.top)
    if not found:
        print("no launch is in both", file=sys.stderr)
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
