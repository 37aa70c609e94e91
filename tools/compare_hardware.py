#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs programs on the simulator with timing and compares each launch with what Nsight Compute measured of it on a GPU.

    tools/compare_hardware.py FIGURES.csv... --programs PROGRAMS [options]

FIGURES.csv has a row for each launch (bench/hwref/*.csv): run, launch, Kernel Name, and columns named as metrics. PROGRAMS
and --list say how each run is started, as for tools/run_programs.py. Launches are matched by their order.

Prints a row for each launch - cycles on the hardware, simulated, their ratio; instructions, hit rates and DRAM bytes of
both - then the figures of the issue: mean absolute error of the cycles, Pearson's r of their logarithms, ratio of the
instructions (PTX here, SASS there; and what the timing model issues), differences of the hit rates in points, error of
the DRAM bytes; and the launches that are off by more than 30 %. Nsight Compute's hit rate of the L2 counts accesses of
its own and those between the L2's partitions; --l2 FILE (columns run, launch, hits, misses) has that of the SMs' requests
alone; without it only launches with many sectors are compared. --dram FILE (run, launch, read, written) has DRAM bytes
that were counted with no other program on the GPU, whose data would be written back by this one. --stalls FILE (tools/stall_shares.py) has for which reasons warps waited there,
and how far the simulated shares are from those is printed, too. --plot writes a scatter plot, --tsv the table, --keep FOLDER the profiles.
Exit code: 0 everything ran, 1 something did not.
"""
import argparse
import concurrent.futures
import csv
import dataclasses
import json
import math
import os
import re
import shlex
import statistics
import struct
import subprocess
import sys
import tempfile
import zlib

import run_programs
import stall_shares

CYCLES = "sm__cycles_elapsed.max"
INSTS = "smsp__inst_executed.sum"
ISSUED = "smsp__inst_issued.sum"
L1 = "l1tex__t_sector_hit_rate.pct"
L2 = "lts__t_sector_hit_rate.pct"
READ = "dram__bytes_read.sum"
WRITE = "dram__bytes_write.sum"
L2_SECTORS = "lts__t_sectors.sum"
L2_SM = "lts__t_sectors_srcunit_tex_lookup_"  # hit.sum, miss.sum: of what goes through the SMs' L1s
METRICS = (CYCLES, INSTS, L1, L2, L2_SECTORS, READ, WRITE)
OUTLIER = 0.3      # of the cycles
FEW_SECTORS = 1e5  # of the L2: about 3,700 hits in each launch are Nsight Compute's own
FEW_BYTES = 1e6    # DRAM bytes of shorter launches are mostly code, parameters and what the profiler does


@dataclasses.dataclass
class Launch:
    run: str
    index: int
    kernel: str
    real: dict
    simulated: dict = None

    def ratio(self, metric):
        simulated = (self.simulated or {}).get(metric)
        return simulated / self.real[metric] if self.real.get(metric) and simulated is not None else None


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def read_figures(paths):
    """run -> its launches in order."""
    runs = {}
    for path in paths:
        with open(path, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                real = {m: number(row[m]) for m in METRICS if m in row}
                kernel = re.sub(r"^void ", "", row["Kernel Name"]).split("(")[0].split("<")[0]
                runs.setdefault(row["run"], []).append(Launch(row["run"], int(row["launch"]), kernel, real))
    return runs


def read_l2(path, runs):
    """Hit rates of the SMs' requests take the place of those of all requests; launches without one have none."""
    with open(path, encoding="utf-8", newline="") as file:
        found = {(row["run"], int(row["launch"])): (number(row["hits"]), number(row["misses"])) for row in csv.DictReader(file)}
    for launches in runs.values():
        for l in launches:
            hits, misses = found.get((l.run, l.index), (0, 0))
            l.real[L2] = 100 * hits / (hits + misses) if hits + misses else None
            l.real[L2_SECTORS] = math.inf


def take_l2(launches):
    """The same of the simulator's launches."""
    for s in (l.simulated for l in launches if l.simulated):
        hits, misses = s.get(L2_SM + "hit.sum", 0), s.get(L2_SM + "miss.sum", 0)
        s.pop(L2, None)
        if hits + misses:
            s[L2] = 100 * hits / (hits + misses)


def read_dram(path, runs):
    """DRAM bytes counted with nothing else on the GPU take the place of the others; launches without have none written."""
    with open(path, encoding="utf-8", newline="") as file:
        found = {(row["run"], int(row["launch"])): (number(row["read"]), number(row["written"])) for row in csv.DictReader(file)}
    for launches in runs.values():
        for l in launches:
            read, l.real[WRITE] = found.get((l.run, l.index), (l.real.get(READ), None))
            l.real[READ] = read


# --- the simulator ----------------------------------------------------------------------------------------------------

def simulate(options, program, launches, scratch):
    """Fills in launch.simulated; returns what went wrong, or None."""
    if not os.path.isfile(program.path):
        return "no executable"
    profile = os.path.join(options.keep or scratch, program.name + ".wlp")
    command = [options.warplens, "run", "-q", "-f", "-o", profile, "--launch-count", str(max(l.index for l in launches) + 1)]
    command += ["--timing", "--cache-control", options.cache_control, "--gpu", options.gpu, "--threads", str(options.threads)] + shlex.split(options.options)
    code, _, errors, seconds, _ = run_programs.run_command(command + ["--", program.path] + shlex.split(program.args), program.folder, options.limit)
    if code is None or not os.path.exists(profile):
        return f"no result after {seconds:.0f} s: {errors.strip().splitlines()[-1] if errors.strip() else code}"
    text = subprocess.run([options.warplens, "report", "--format", "json", profile], capture_output=True, text=True, check=False).stdout
    if not options.keep:
        os.remove(profile)
    try:
        report = json.loads(text)
    except json.JSONDecodeError as error:
        return f"no report: {error}"
    found = {l["index"]: (k["name"], l["metrics"]) for k in report["kernels"] for l in k["launches"]}
    ordered = [found[i] for i in sorted(found)]
    for launch in launches:
        if launch.index < len(ordered):
            name, launch.simulated = ordered[launch.index]
            if name.split("(")[0].split("<")[0].split("::")[-1] != launch.kernel.split("::")[-1]:
                launch.simulated = None
                return f"launch {launch.index} is {name}, on the hardware {launch.kernel}"
    missing = [l.index for l in launches if not l.simulated or CYCLES not in l.simulated]
    ratios = " ".join("-" if r is None else f"{r:.2f}" for r in (l.ratio(CYCLES) for l in launches))
    print(f"{program.name}: {ratios}  ({seconds:.0f} s)", file=sys.stderr, flush=True)
    return f"launches {missing} have no {CYCLES}" if missing else None


# --- the table --------------------------------------------------------------------------------------------------------

def shown(value, digits=0):
    return "-" if value is None else f"{value:.{digits}f}"


HEAD = ("run", "launch", "kernel", "cycles", "simulated", "ratio", "insts", "L1 %", "sim", "L2 %", "sim", "read MB", "sim", "written MB", "sim")


def cells(l):
    s, r = l.simulated or {}, l.real
    ratio = l.ratio(CYCLES)
    scaled = lambda v: None if v is None else v / 1e6
    return (l.run, str(l.index), l.kernel[:28], shown(r[CYCLES]), shown(s.get(CYCLES)), shown(ratio, 2), shown(l.ratio(INSTS), 2),
            shown(r.get(L1), 1), shown(s.get(L1), 1), shown(r.get(L2), 1), shown(s.get(L2), 1), shown(scaled(r.get(READ)), 2),
            shown(scaled(s.get(READ)), 2), shown(scaled(r.get(WRITE)), 2), shown(scaled(s.get(WRITE)), 2))


def print_table(launches):
    rows = [HEAD] + [cells(l) for l in launches]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    for row in rows:
        print("  ".join(c.ljust(w) if i in (0, 2) else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))).rstrip())


def pearson(xs, ys):
    mx, my = statistics.fmean(xs), statistics.fmean(ys)
    spread = math.sqrt(sum((x - mx) ** 2 for x in xs) * sum((y - my) ** 2 for y in ys))
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / spread if spread else 1.0


def print_hit_rates(name, metric, launches):
    pairs = [(l.simulated[metric], l.real[metric]) for l in launches if metric in l.simulated and l.real.get(metric) is not None]
    if not pairs:
        return
    differences = [abs(s - r) for s, r in pairs]
    print(f"{name} hit rate: mean difference {statistics.fmean(differences):.1f} points, median {statistics.median(differences):.1f}, "
          f"within 8 points {sum(d <= 8 for d in differences)} of {len(differences)}")


def print_bytes(name, metric, launches):
    errors = [abs(l.simulated[metric] / l.real[metric] - 1) for l in launches if metric in l.simulated and (l.real.get(metric) or 0) >= FEW_BYTES]
    if errors:
        print(f"DRAM bytes {name} (launches with {FEW_BYTES / 1e6:.0f} MB and more): mean error {statistics.fmean(errors) * 100:.1f} %, "
              f"within 15 % {sum(e <= 0.15 for e in errors)} of {len(errors)}")


def print_summary(launches):
    done = [l for l in launches if l.simulated and l.ratio(CYCLES)]
    if len(done) < 2:
        return
    errors = [abs(l.ratio(CYCLES) - 1) for l in done]
    by_run = {}
    for l, e in zip(done, errors):
        by_run.setdefault(l.run, []).append(e)
    logs = [(math.log(l.real[CYCLES]), math.log(l.simulated[CYCLES])) for l in done]
    print(f"\n{len(done)} launches of {len(by_run)} runs, of {len(launches)}")
    print(f"cycles: mean absolute error {statistics.fmean(errors) * 100:.1f} % (of runs: {statistics.fmean(map(statistics.fmean, by_run.values())) * 100:.1f} %), "
          f"median {statistics.median(errors) * 100:.1f} %; Pearson r of the logarithms {pearson(*zip(*logs)):.4f}; "
          f"simulated / real, geometric mean {math.exp(statistics.fmean(s - r for r, s in logs)):.3f}")
    insts = [l.ratio(INSTS) for l in done if l.ratio(INSTS)]
    if insts:
        print(f"instructions, PTX / SASS: median {statistics.median(insts):.2f}, mean {statistics.fmean(insts):.2f}, "
              f"within 10 % {sum(abs(i - 1) <= 0.1 for i in insts)} of {len(insts)}")
    issued = [l.simulated[ISSUED] / l.real[INSTS] for l in done if ISSUED in l.simulated and l.real.get(INSTS)]
    if issued:
        print(f"machine instructions / SASS: median {statistics.median(issued):.2f}, mean {statistics.fmean(issued):.2f}, "
              f"within 10 % {sum(abs(i - 1) <= 0.1 for i in issued)} of {len(issued)}")
    print_hit_rates("L1", L1, done)
    print_hit_rates("L2", L2, [l for l in done if (l.real.get(L2_SECTORS) or 0) >= FEW_SECTORS])
    print_bytes("read", READ, done)
    print_bytes("written", WRITE, done)
    outliers = sorted((l for l in done if abs(l.ratio(CYCLES) - 1) > OUTLIER), key=lambda l: -abs(math.log(l.ratio(CYCLES))))
    print(f"\noff by more than {OUTLIER * 100:.0f} %: {len(outliers)} of {len(done)}")
    for l in outliers:
        print(f"  {l.ratio(CYCLES):6.2f}  {l.run} {l.index} {l.kernel}")


# --- the plot: a PNG by hand, so that nothing need be installed ----------------------------------------------------------

DIGITS = {"0": (7, 5, 5, 5, 7), "1": (2, 6, 2, 2, 7), "2": (7, 1, 7, 4, 7), "3": (7, 1, 7, 1, 7), "4": (5, 5, 7, 1, 1),
          "5": (7, 4, 7, 1, 7), "6": (7, 4, 7, 5, 7), "7": (7, 1, 1, 1, 1), "8": (7, 5, 7, 5, 7), "9": (7, 5, 7, 1, 7),
          "e": (7, 5, 7, 4, 7)}


class Picture:
    def __init__(self, size):
        self.size = size
        self.rows = [bytearray(b"\xff" * 3 * size) for _ in range(size)]

    def dot(self, x, y, color):
        if 0 <= x < self.size and 0 <= y < self.size:
            self.rows[y][3 * x:3 * x + 3] = bytes(color)

    def disc(self, x, y, radius, color):
        for dy in range(-radius, radius + 1):
            for dx in range(-radius, radius + 1):
                if dx * dx + dy * dy <= radius * radius:
                    self.dot(x + dx, y + dy, color)

    def text(self, x, y, text, scale=3):
        for n, c in enumerate(text):
            for dy, bits in enumerate(DIGITS[c]):
                for dx in range(3):
                    if bits >> (2 - dx) & 1:
                        for k in range(scale * scale):
                            self.dot(x + (4 * n + dx) * scale + k % scale, y + dy * scale + k // scale, (60, 60, 60))

    def write(self, path):
        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        raw = b"".join(b"\0" + bytes(row) for row in self.rows)
        head = struct.pack(">IIBBBBB", self.size, self.size, 8, 2, 0, 0, 0)
        with open(path, "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b""))


def plot(launches, path, size=1000, margin=80):
    """Simulated cycles (up) over real ones (right), both logarithmic: decades are grey, equality black, 30 % dashed."""
    points = [(math.log10(l.real[CYCLES]), math.log10(l.simulated[CYCLES])) for l in launches if l.simulated and l.ratio(CYCLES)]
    if not points:
        return
    low, high = math.floor(min(map(min, points))), math.ceil(max(map(max, points)) + 1e-9)
    scale = (size - 2 * margin) / (high - low)
    place = lambda v: margin + round((v - low) * scale)
    picture = Picture(size)
    for decade in range(low, high + 1):
        for k in range(margin, size - margin):
            picture.dot(place(decade), k, (210, 210, 210))
            picture.dot(k, place(decade), (210, 210, 210))
        picture.text(place(decade) - 18, size - margin + 15, f"1e{decade}")
        picture.text(20, size - place(decade) - 7, f"1e{decade}")
    for k in range(margin, size - margin):
        picture.dot(k, size - k, (0, 0, 0))
        for offset in (math.log10(1 + OUTLIER), math.log10(1 - OUTLIER)):
            y = size - k - round(offset * scale)
            if k // 6 % 2 and margin <= y <= size - margin:
                picture.dot(k, y, (150, 150, 150))
    for x, y in points:
        off = abs(10 ** (y - x) - 1) > OUTLIER
        picture.disc(place(x), size - place(y), 4, (200, 60, 40) if off else (30, 90, 170))
    picture.write(path)


def print_stalls(path, launches):
    simulated = {(l.run, l.index): (l.kernel, stall_shares.shares_of(l.simulated)) for l in launches if l.simulated}
    print()
    stall_shares.print_stalls(stall_shares.read_stalls(path), {k: v for k, v in simulated.items() if v[1]})


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("figures", nargs="+", help="CSV files of launches measured on a GPU")
    parser.add_argument("--programs", required=True, help="manifest or folder, as for run_programs.py")
    parser.add_argument("--list", help="table with the arguments of each program")
    parser.add_argument("--l2", help="table of the L2's hits and misses of the SMs' requests")
    parser.add_argument("--dram", help="table of DRAM bytes counted with nothing else on the GPU")
    parser.add_argument("--stalls", help="table of the shares of the reasons for which warps waited")
    parser.add_argument("--only", help="only runs whose name matches this regular expression")
    parser.add_argument("--gpu", default="h200", help="GPU model (default h200)")
    parser.add_argument("--options", default="", help="more options for `warplens run`")
    parser.add_argument("--cache-control", choices=("all", "none"), default="all",
                        help="whether caches are emptied before each kernel, as Nsight Compute does by default (default all)")
    parser.add_argument("--limit", type=float, default=600, help="seconds for a program (default 600)")
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time")
    parser.add_argument("--threads", type=int, default=1, help="host threads of a simulation")
    parser.add_argument("--warplens", default=os.path.join(run_programs.ROOT, "build", "release", "bin", "warplens"))
    parser.add_argument("--keep", help="folder for the profiles")
    parser.add_argument("--tsv", help="also write the table here")
    parser.add_argument("--plot", help="also write a scatter plot, a PNG, here")
    options = parser.parse_args()
    if os.sep in options.warplens:
        options.warplens = os.path.abspath(options.warplens)  # programs run in their own folders
    return options


def main():
    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # Nsight Compute lets kernels run one at a time
    options = parse_options()
    runs = read_figures(options.figures)
    if options.l2:
        read_l2(options.l2, runs)
    if options.dram:
        read_dram(options.dram, runs)
    programs = [p for p in run_programs.choose_programs(options) if p.name in runs]
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = [(p, pool.submit(simulate, options, p, runs[p.name], scratch)) for p in programs]
        troubles = [(p.name, f.result()) for p, f in waiting]
    launches = [l for p in programs for l in runs[p.name]]
    if options.l2:
        take_l2(launches)
    print_table(launches)
    if options.tsv:
        with open(options.tsv, "w", encoding="utf-8") as file:
            file.writelines("\t".join(row) + "\n" for row in [HEAD] + [cells(l) for l in launches])
    if options.plot:
        plot(launches, options.plot)
    print_summary(launches)
    if options.stalls:
        print_stalls(options.stalls, launches)
    failed = [t for t in troubles if t[1]]
    for name, trouble in failed:
        print(f"{name}: {trouble}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
