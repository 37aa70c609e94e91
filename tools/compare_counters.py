#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what ncu counted on a GPU (tools/h200_counters.sh) with what the simulator counts for the same launches.

usage: compare_counters.py CSVDIR JSONDIR    CSVDIR/TOPIC.csv from ncu, JSONDIR/TOPIC.json from `warplens report --json`

Prints one row per kernel and counter: launches, hardware, simulated, ratio. Launches are matched by their order.
"""
import collections
import csv
import glob
import json
import os
import sys


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:  # device attributes and metrics that this GPU does not have
        return None


def hardware(path):
    """Launches in order: (kernel name, {metric: value})."""
    with open(path) as f:
        lines = [line for line in f if line.startswith('"')]
    rows = list(csv.reader(lines))
    head = rows[0]
    name = head.index("Kernel Name")
    for row in rows[2:]:  # row 1 holds the units
        yield row[name].split("(")[0], {h: number(v) for h, v in zip(head, row) if h.endswith('.sum') and not h.startswith(('gpu__', 'profiler__'))}


def simulated(path):
    with open(path) as f:
        report = json.load(f)
    launches = [(l["index"], k["name"], l["metrics"]) for k in report["kernels"] for l in k["launches"]]
    return [(name, metrics) for _, name, metrics in sorted(launches, key=lambda l: l[0])]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(f"{'topic':12} {'kernel':22} {'counter':58} {'launches':>8} {'hardware':>12} {'simulated':>12} {'ratio':>7}")
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.csv"))):
        topic = os.path.basename(path)[:-4]
        hw, sim = list(hardware(path)), simulated(os.path.join(sys.argv[2], topic + ".json"))
        if [n for n, _ in hw] != [n for n, _ in sim]:
            print(f"{topic:12} launches differ: {len(hw)} on the hardware, {len(sim)} simulated")
            continue
        totals = collections.OrderedDict()
        for (name, h), (_, s) in zip(hw, sim):
            for metric, value in h.items():
                row = totals.setdefault((name, metric), [0, 0, 0])
                row[0] += 1
                row[1] += value or 0
                row[2] += s.get(metric, 0)
        for (name, metric), (count, h, s) in totals.items():
            if h or s:
                print(f"{topic:12} {name:22} {metric:58} {count:8} {h:12.0f} {s:12.0f} {s / h if h else float('inf'):7.3f}")


main()
