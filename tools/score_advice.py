#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the speedups that `warplens advise` expects with those that were achieved, on pairs of programs before and after
exactly one change (examples/advice).

    tools/score_advice.py --times TIMES.tsv --advice FOLDER [options]      achieved on a GPU, advice from profiles of a GPU
    tools/score_advice.py --simulate BINARIES [options]                    both from the simulator; runs anywhere

TIMES.tsv has a row for each run: round, pair, version (before, after), exit code, wall milliseconds, the program's output,
whose "median_us=" is the time of one launch; FOLDER has PAIR.json (`warplens advise --format json` on the profile of
before) or PAIR.wlp or PAIR-before.wlp. --simulate runs BINARIES/PAIR-before and -after (`small`) with --timing and takes the
simulated times.

What a pair wants is in the head of its source: "Rule: NAME", "Also: NAME" for a rule that is as right, and "Lines: FIRST-LAST" where
that rule may be advised at several places, of which only one is changed. Advice that says another rule's name for its change,
too ("also"), counts by both. --pairs reads
other pairs from a table instead: pair, rule, also (or -), kernel (a regular expression, or - for all kernels).

Each estimate is scored as it is, and once more with the rule's record left out and measured again on all other pairs
(leave-one-out), so that no pair's own result sets its scale or its width. Errors: ratio |estimate / achieved - 1|, gain
|estimate - achieved| / (achieved - 1); an advice that is missing counts as an estimate of 1.

Prints the table and the summary. --tsv FILE writes the table, --record prints the rows' RECORD(...) for rules.def. Tables of other
sets of pairs, written by --tsv, count as known as well with --known TABLE.tsv (may be repeated): in records, and where one is left out.
Exit code: 0 scored, 1 something did not run, 2 usage.
"""
import argparse
import concurrent.futures
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

import advice_interval

PRIOR_PAIRS = 8.0      # how many pairs of all rules count in the scale of each: chosen by leaving one out; with fewer, one or two pairs of a rule set it
FAILED = 2.1           # ln 8: what brought an eighth of what was expected, or eight times as much, is another change than the estimate is about
LEAST_ACHIEVED = 1.02  # what brings less on this machine can show no rule to be right
LEAST_GAIN = 0.005     # gains below are noise: their logarithm says nothing
TOP = 3


@dataclass
class Estimate:
    rule: str
    rank: int          # 1 is the first advice of the list
    speedup: float
    low: float
    high: float
    model: float       # speedup before the record is applied
    error: float       # standard deviation of the logarithm of the gain, from sampling
    limit: float
    also: str          # another name of the rule for this change; ""


@dataclass
class Pair:
    name: str
    wanted: list       # rules, the one that it was made for first
    kernel: str = None
    lines: tuple = None  # first, last: where the change is
    times: dict = field(default_factory=lambda: {"before": [], "after": []})
    advice: list = None
    found: Estimate = None

    def achieved(self):
        before, after = (self.times[v] for v in ("before", "after"))
        return statistics.median(before) / statistics.median(after) if before and after else None

    def noise(self):
        """Relative half-width of what the rounds gave."""
        spans = [(max(t) - min(t)) / statistics.median(t) / 2 for t in self.times.values() if t]
        return max(spans, default=0)


# --- input --------------------------------------------------------------------------------------------------------------

def pairs_of_sources(folder):
    pairs = []
    for file in sorted(os.listdir(folder)):
        if file.endswith(".cu"):
            with open(os.path.join(folder, file), encoding="utf-8") as source:
                head = source.read(2000)
            wanted = re.findall(r"^// (?:Rule|Also): (\S+)$", head, re.M)
            if not wanted:
                sys.exit(f"{file}: no line '// Rule: NAME' in its head")
            lines = re.search(r"^// Lines: (\d+)-(\d+)$", head, re.M)
            pairs.append(Pair(file[:-3], wanted, lines=tuple(int(n) for n in lines.groups()) if lines else None))
    return pairs


def pairs_of_table(path):
    pairs = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, rule, also, kernel = line.rstrip("\n").split("\t")[:4]
                pairs.append(Pair(name, [rule] + [a for a in also.split(",") if a != "-"], None if kernel == "-" else kernel))
    return pairs


def read_times(path, pairs):
    by_name, wrong = {p.name: p for p in pairs}, []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("#") or line.startswith("round\t"):
                continue
            _, name, version, code, _, text = line.rstrip("\n").split("\t")[:6]
            match = re.search(r"median_us=([0-9.]+)", text)
            if name not in by_name:
                continue
            if code != "0" or not match:
                wrong.append(f"{name} {version}: exit code {code}: {text[:100]}")
            else:
                by_name[name].times[version].append(float(match.group(1)))
    return wrong


def run(command, timeout=600):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


def load_advice(options, pair):
    base = os.path.join(options.advice, pair.name)
    for profile in (base + ".wlp", base + "-before.wlp"):
        if os.path.exists(profile):
            return json.loads(run([options.warplens, "advise", "--format", "json", profile]))
    with open(base + ".json", encoding="utf-8") as file:
        return json.load(file)


def kernel_us(options, pair, profile):
    """Time of all launches of the profile, cold ones too, as advice is about them all; the program's own clock ticks too coarsely."""
    report = json.loads(run([options.warplens, "report", "--format", "json", "--section", "kernels", profile]))
    return sum(k["metrics"].get("gpu__time_duration.sum", 0) for k in report["kernels"] if not pair.kernel or re.search(pair.kernel, k["name"])) / 1000


def simulate(options, pair, scratch):
    """Runs both versions on the simulator: fills in times and advice."""
    for version in ("before", "after"):
        profile = os.path.join(options.keep or scratch, f"{pair.name}-{version}.wlp")
        if not (options.again and os.path.exists(profile)):
            run([options.warplens, "run", "-q", "-f", "--on", "sim", "--timing", "-o", profile, "--",
                 os.path.join(options.simulate, f"{pair.name}-{version}"), "small"])
        pair.times[version].append(kernel_us(options, pair, profile))
        if version == "before" and not options.no_advice:
            pair.advice = json.loads(run([options.warplens, "advise", "--format", "json", profile]))
        if not options.keep:
            os.remove(profile)


# --- estimates ------------------------------------------------------------------------------------------------------------

def of_all(speedup, share):
    """Speedup of what has the kernel as this share of its time, when the kernel's is `speedup` (Amdahl)."""
    return 1 / (1 - share + share / speedup)


def share_of(row, advice):
    """Which part of all kernels' time the row's speedup is of; advice on several kernels speaks of them together."""
    e = row["estimate"]
    if advice["kernel_ns"] <= 0 or e["speedup"] <= 1:
        return 1.0
    return min(1.0, e["saved_ns"] / (1 - 1 / e["speedup"]) / advice["kernel_ns"])


def estimates_of(pair, scales):
    """All advice for the pair's kernel in the order of the list, in terms of what was timed: that kernel, or all kernels.
    Advice of the wanted rule at another place than the change's has another name."""
    out = []
    for row in pair.advice["advice"]:
        if pair.kernel and not re.search(pair.kernel, row["kernel"]):
            continue
        e = row["estimate"]
        model = e.get("model") or {}
        raw = model.get("speedup", 1 + (e["speedup"] - 1) / scales.get(row["rule"], 1))
        values = [float(v) for v in (e["speedup"], e["low"], e["high"], raw, model.get("limit", 64.0))]
        if not pair.kernel:
            share = share_of(row, pair.advice)
            values = [of_all(v, share) for v in values]
        rule = row["rule"] + " elsewhere" if is_elsewhere(pair, row) else row["rule"]
        out.append(Estimate(rule, len(out) + 1, *values[:4], model.get("error", 0.0), values[4], row.get("also", "")))
    return out


def is_elsewhere(pair, row):
    line = (row.get("scope") or {}).get("line")
    return bool(pair.lines and row["rule"] in pair.wanted and line and not pair.lines[0] <= line <= pair.lines[1])


def find(pair, scales):
    """The first advice that is right, by its rule's name or by its other one; several places of one rule count as one rank."""
    rules, ranks, best, least = [], [], None, len(pair.wanted)
    for e in estimates_of(pair, scales):
        if e.rule not in rules:
            rules.append(e.rule)
        e.rank = rules.index(e.rule) + 1
        names = [pair.wanted.index(name) for name in (e.rule, e.also) if name in pair.wanted]
        if names:
            ranks.append(e.rank)
            if min(names) < least:
                best, least = e, min(names)
    pair.found = best
    return min(ranks) if ranks else None


def log_ratio(achieved, model):
    """Of gains; None: the change brought nothing, nothing was expected, or it was another one than the model thought of."""
    if achieved < LEAST_ACHIEVED - 1 or model <= LEAST_GAIN:
        return None
    ratio = math.log(achieved / model)
    return ratio if abs(ratio) < FAILED else None


def log_error(pair):
    """ln(achieved gain / gain of the model); None where either is noise."""
    if not pair.found or pair.achieved() is None:
        return None
    achieved, model = pair.achieved() - 1, pair.found.model - 1
    return log_ratio(achieved, model)


def scale_of(errors, everybody):
    """A rule's scale from the errors of its pairs, drawn towards what all pairs together show."""
    center = statistics.median(everybody) if everybody else 0.0
    n = len(errors)
    return math.exp((n * (statistics.median(errors) if errors else 0.0) + PRIOR_PAIRS * center) / (n + PRIOR_PAIRS))


@dataclass
class Known:
    """What is to be known of a pair whose advice was right."""
    rule: str
    error: float  # log_error(); None: nothing can be said
    helped: bool
    speedup: float  # expected
    achieved: float


def known_of(pair):
    return Known(pair.found.rule, log_error(pair), pair.achieved() > 1 + LEAST_GAIN, pair.found.speedup, pair.achieved())


def read_known(path):
    """Pairs of another set, from the table that --tsv wrote."""
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    out = []
    for line in lines[1:]:
        row = dict(zip(lines[0], line))
        if row["advised"] == "-":
            continue
        gain, model = float(row["achieved"]) - 1, float(row["model"]) - 1
        out.append(Known(row["advised"], log_ratio(gain, model), gain > LEAST_GAIN, float(row["estimated"]), gain + 1))
    return out


def record_of(rule, known, first, unit=0.0):
    """(scale, width) of a rule; known: Known of all, first: how they, and others, were estimated before anybody had learnt from them;
    unit: how far the pairs are out that intervals were calibrated with, if these are others: first looks, if there are some, tell best."""
    errors = [k for k in known if k.error is not None]
    scale = scale_of([k.error for k in errors if k.rule == rule], [k.error for k in errors])
    all_known = [vars(k) for k in known]
    wider = advice_interval.out_by(first or all_known) / unit if unit else 1.0
    return scale, wider * advice_interval.width_of(rule, all_known + first)


def leave_one_out(pair, pairs, others, first, unit):
    """The pair's estimate with a record that knows only the other pairs."""
    known = [known_of(p) for p in pairs if p is not pair and p.found] + others
    scale, width = record_of(pair.found.rule, known, [f for f in first if f["name"] != pair.name], unit)
    speedup = min(1 + (pair.found.model - 1) * scale, pair.found.limit)
    return [speedup, *advice_interval.interval(speedup, width, pair.found.error, pair.found.limit)]


# --- output ---------------------------------------------------------------------------------------------------------------

COLUMNS = ("pair", "rule", "rank", "estimated", "low", "high", "achieved", "noise", "ratio_error", "gain_error", "covered",
           "loo", "loo_low", "loo_high", "loo_gain_error", "loo_covered", "before_us", "after_us", "advised", "model", "limit")


def errors_of(estimate, achieved):
    gain = abs(estimate - achieved) / abs(achieved - 1) if abs(achieved - 1) > LEAST_GAIN else float("nan")
    return abs(estimate / achieved - 1), gain


def covers(low, high, achieved, noise):
    return low * (1 - noise) <= achieved <= high * (1 + noise)


def row_of(pair, pairs, rank, others, first, unit):
    achieved, noise, found = pair.achieved(), pair.noise(), pair.found
    row = dict(pair=pair.name, rule=pair.wanted[0], rank=rank, achieved=achieved, noise=noise,
               before_us=statistics.median(pair.times["before"]), after_us=statistics.median(pair.times["after"]))
    speedup, low, high = (found.speedup, found.low, found.high) if found else (1.0, 1.0, 1.0)
    loo, loo_low, loo_high = leave_one_out(pair, pairs, others, first, unit) if found else (1.0, 1.0, 1.0)
    ratio, gain = errors_of(speedup, achieved)
    row.update(estimated=speedup, low=low, high=high, ratio_error=ratio, gain_error=gain,
               covered=bool(found) and covers(low, high, achieved, noise), loo=loo, loo_low=loo_low, loo_high=loo_high,
               loo_gain_error=errors_of(loo, achieved)[1], loo_covered=bool(found) and covers(loo_low, loo_high, achieved, noise),
               advised=found.rule if found else None, model=found.model if found else None, limit=found.limit if found else None)
    return row


def cell(value):
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def summary(rows):
    lines = [f"pairs: {len(rows)}"]
    ranks = [r["rank"] for r in rows]
    for top in (1, TOP):
        right = sum(rank is not None and rank <= top for rank in ranks)
        lines.append(f"right rule in the first {top}: {right} of {len(rows)} ({100 * right / len(rows):.0f} %)")
    gained = [r for r in rows if r["achieved"] >= LEAST_ACHIEVED]
    if gained and len(gained) < len(rows):
        right = sum(r["rank"] is not None and r["rank"] <= TOP for r in gained)
        others = ", ".join(f"{r['pair']} ({r['estimated']:.2f} expected)" for r in rows if r["achieved"] < LEAST_ACHIEVED)
        errors = [r["gain_error"] for r in gained]
        covered = [r["covered"] for r in gained if r["rank"] is not None]
        lines.append(f"... of the changes that gained {100 * (LEAST_ACHIEVED - 1):.0f} % or more: {right} of {len(gained)} "
                     f"({100 * right / len(gained):.0f} %), gain error median {100 * statistics.median(errors):.0f} %, "
                     f"mean {100 * statistics.mean(errors):.0f} %, intervals cover {100 * sum(covered) / max(len(covered), 1):.0f} %; "
                     f"less did {others}")
    for prefix, text in (("", "as advised"), ("loo_", "record of the other pairs")):
        gains = [r[prefix + "gain_error"] for r in rows if not math.isnan(r[prefix + "gain_error"])]
        found = [r[prefix + "gain_error"] for r in rows if r["rank"] is not None and not math.isnan(r[prefix + "gain_error"])]
        covered = [r[prefix + "covered"] for r in rows if r["rank"] is not None]
        if found:
            lines.append(f"{text}: gain error median {100 * statistics.median(gains):.0f} %, mean {100 * statistics.mean(gains):.0f} %; "
                         f"where the rule was found median {100 * statistics.median(found):.0f} %, mean {100 * statistics.mean(found):.0f} %; "
                         f"intervals cover {100 * sum(covered) / len(covered):.0f} %")
    ratios = [r["ratio_error"] for r in rows]
    lines.append(f"ratio error median {100 * statistics.median(ratios):.0f} %, mean {100 * statistics.mean(ratios):.0f} %")
    return lines


def records(pairs, others, first, unit):
    known = [known_of(p) for p in pairs if p.found and p.achieved() is not None] + others
    for rule in sorted({k.rule for k in known}) + ["(any other)"]:
        scale, width = record_of(rule, known, first, unit)
        helped = [k.helped for k in known if k.rule == rule]
        yield f"{rule:<22} RECORD({scale:.2f}, {width:.2f}, {sum(helped)}, {len(helped)})"


def scales_in_use(path, simulated):
    """What `advise` multiplied the gains by: rule -> scale, from rules.def (the first record, or the second of simulated profiles)."""
    try:
        with open(path, encoding="utf-8") as file:
            rows = re.findall(r'ADVICE_RULE\(\w+,\s*"([\w-]+)".*?RECORD\(([0-9.]+)[^)]*\),\s*RECORD\(([0-9.]+)', file.read())
            return {m[0]: float(m[2 if simulated else 1]) for m in rows}
    except OSError:
        return {}


def parse_arguments():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times")
    parser.add_argument("--advice", metavar="FOLDER")
    parser.add_argument("--simulate", metavar="BINARIES")
    parser.add_argument("--no-advice", action="store_true", help="only the achieved speedups")
    parser.add_argument("--pairs", metavar="TABLE")
    parser.add_argument("--only", action="append", metavar="PAIR", help="only this pair (may be repeated)")
    parser.add_argument("--warplens", default=os.path.join(root, "build/release/bin/warplens"))
    parser.add_argument("--sources", default=os.path.join(root, "examples/advice"))
    parser.add_argument("--rules", default=os.path.join(root, "src/analyze/advice/rules.def"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", metavar="FOLDER", help="keep the simulated profiles")
    parser.add_argument("--again", action="store_true", help="take the profiles that --keep left, simulate only what is missing")
    parser.add_argument("--tsv", metavar="FILE")
    parser.add_argument("--note", action="append", default=[], help="a line for the head of the TSV: date, GPU, driver, command")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--known", action="append", default=[], metavar="TABLE", help="pairs of another set, from its --tsv (may be repeated)")
    parser.add_argument("--first", action="append", default=[], metavar="TABLE",
                        help="first looks at pairs, from --tsv: they count in the widths of records (may be repeated)")
    parser.add_argument("--unit", action="append", default=[], metavar="TABLE",
                        help="pairs that intervals were calibrated with: widths are in terms of how far those are out (may be repeated)")
    options = parser.parse_args()
    if bool(options.simulate) == bool(options.times):
        parser.error("one of --times and --simulate")
    if options.times and not options.advice:
        options.no_advice = True
    return options


def gather(options, pairs):
    """Times and advice of every pair; returns what went wrong."""
    wrong = read_times(options.times, pairs) if options.times else []
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        def one(pair):
            try:
                if options.simulate:
                    simulate(options, pair, scratch)
                elif not options.no_advice:
                    pair.advice = load_advice(options, pair)
                return None
            except (OSError, RuntimeError, ValueError, KeyError, AttributeError, subprocess.TimeoutExpired) as error:
                return f"{pair.name}: {error}"
        return wrong + [w for w in pool.map(one, pairs) if w]


def main():
    options = parse_arguments()
    pairs = pairs_of_table(options.pairs) if options.pairs else pairs_of_sources(options.sources)
    if options.only:
        pairs = [p for p in pairs if p.name in options.only]
    wrong = gather(options, pairs)
    scored = [p for p in pairs if p.achieved() is not None and (p.advice or options.no_advice)]
    scales, ranks = scales_in_use(options.rules, bool(options.simulate)), {}
    for pair in scored:
        ranks[pair.name] = find(pair, scales) if pair.advice else None
    others = [k for path in options.known for k in read_known(path)]
    first = [p for path in options.first for p in advice_interval.read_table(path)]
    unit = advice_interval.out_by([p for path in options.unit for p in advice_interval.read_table(path)])
    rows = [row_of(p, scored, ranks[p.name], others, first, unit) for p in scored]
    columns = COLUMNS if not options.no_advice else ("pair", "rule", "achieved", "noise", "before_us", "after_us")
    table = [columns] + [[cell(r[c]) for c in columns] for r in rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(columns))]
    for row in table:
        print("  ".join(text.ljust(w) if i < 2 else text.rjust(w) for i, (text, w) in enumerate(zip(row, widths))))
    if rows and not options.no_advice:
        print("\n" + "\n".join(summary(rows)))
    if options.record:
        print("\n" + "\n".join(records(scored, others, first, unit)))
    if options.tsv:
        with open(options.tsv, "w", encoding="utf-8") as file:
            file.writelines(f"# {line}\n" for line in options.note + ([] if options.no_advice else summary(rows) if rows else []))
            file.writelines("\t".join(row) + "\n" for row in table)
    for line in wrong:
        print(f"score_advice.py: {line}", file=sys.stderr)
    return 1 if wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
