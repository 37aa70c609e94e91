# SPDX-License-Identifier: Apache-2.0
"""How far estimates of `warplens advise` were from what was achieved, as scores, and the intervals that follow from them
(src/analyze/advice/interval.h has the same shape and the constants). For tools/score_advice.py and tools/calibrate_advice.py.

A score is how far the achieved speedup is beyond the expected one, in units of the shape of the interval: positive above, or below.
Pairs are dicts: set, name, rule, speedup (expected), achieved, limit, error (of sampling: standard deviation of ln(speedup - 1))."""
import csv
import math
import os
import re

HEADER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src/analyze/advice/interval.h")
NORMAL_95 = 1.6449
LEVEL, LEVEL_BELOW = 0.95, 0.97  # of the ends of a 90 % interval: sets of pairs differ most in how much less they achieve than was expected
PRIOR_PAIRS = 8.0      # as many pairs of all rules count in the width of each rule; chosen by leaving sets out
LEAST_ACHIEVED = 1.02  # what brings less did not help; ends below are made from those that did


def constants(path=HEADER):
    with open(path, encoding="utf-8") as file:
        found = dict(re.findall(r"#define INTERVAL_(\w+) ([0-9.]+)", file.read()))
    return {name: float(value) for name, value in found.items()}


C = constants()


def read_table(path):
    name = re.sub(r"-(first|pairs)$", "", os.path.splitext(os.path.basename(path))[0])
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t"))
    pairs = []
    for row in rows:
        if row["rank"] == "-":
            continue
        limit = "inf" if path.endswith("-first.tsv") else row.get("limit") or "inf"  # limits were nearer then
        rule = row.get("advised") or row["rule"]
        pairs.append(dict(set=name, name=row["pair"], rule=rule, speedup=float(row["estimated"]), achieved=float(row["achieved"]),
                          noise=float(row["noise"]), limit=float(limit)))
    return pairs


def above(speedup, achieved):
    x = math.log(max(speedup, 1))
    return (math.log(max(achieved, 1)) - x) / math.sqrt(x + C["FLOOR_ABOVE"])


def below(speedup, achieved):
    x = math.log(max(speedup, 1))
    return (x - math.log(max(achieved, 1))) / (x + C["FLOOR_BELOW"])


def distance(pair):
    return max(above(pair["speedup"], pair["achieved"]), below(pair["speedup"], pair["achieved"]))


def quantile(scores, level=LEVEL):
    """That the next one of scores drawn alike is not above, with a probability of `level`: of n the ceil(level (n + 1))-th; the largest
    where there are too few to say."""
    ordered = sorted(scores)
    return ordered[min(math.ceil(level * (len(ordered) + 1)), len(ordered)) - 1]


def out_by(pairs):
    """Root of the mean square distance."""
    return math.sqrt(sum(distance(p) ** 2 for p in pairs) / len(pairs)) if pairs else 0.0


def width_of(rule, known):
    """Of the rule's intervals, in terms of all rules': root of the mean square distance, drawn towards that of all."""
    squares = [distance(p) ** 2 for p in known]
    own = [distance(p) ** 2 for p in known if p["rule"] == rule]
    if not squares or not sum(squares):
        return 1.0
    everybody = sum(squares) / len(squares)
    return math.sqrt((sum(own) + PRIOR_PAIRS * everybody) / (len(own) + PRIOR_PAIRS) / everybody)


def ends(first, widths):
    """The two quantiles, from first looks."""
    return (quantile([above(p["speedup"], p["achieved"]) / widths[p["rule"]] for p in first]),
            quantile([below(p["speedup"], p["achieved"]) / widths[p["rule"]] for p in first if p["achieved"] >= LEAST_ACHIEVED], LEVEL_BELOW))


def interval(speedup, width, error=0.0, limit=math.inf, quantiles=None):
    """(low, high), as interval_around() of interval.h."""
    up, down = quantiles or (C["ABOVE"], C["BELOW"])
    x = math.log(max(speedup, 1))
    sampling = NORMAL_95 * error * (1 - math.exp(-x))
    high = math.exp(x + math.hypot(up * width * math.sqrt(x + C["FLOOR_ABOVE"]), sampling))
    low = math.exp(max(0, x - math.hypot(down * width * (x + C["FLOOR_BELOW"]), sampling)))
    return low, max(speedup, min(high, limit))
