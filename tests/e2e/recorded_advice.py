# SPDX-License-Identifier: Apache-2.0
"""recorded_advice.py EXPECTED.tsv FOLDER: of each row (name, rules, achieved speedup, covered) whether one of the rules is
among the first three of FOLDER/NAME.json (`warplens advise --json`), and whether the interval of the best of them has
what was achieved, as the row says. Prints "NAME good", or what is there instead."""
import csv
import json
import sys


def first_rules(advice):
    return list(dict.fromkeys(row["rule"] for row in advice))[:3]


def look(row, advice):
    rules = row["rules"].split()
    own = [a["estimate"] for a in advice if a["rule"] in rules]
    if not set(rules) & set(first_rules(advice)):
        return "first are " + ", ".join(first_rules(advice))
    best = max(own, key=lambda e: e["program_speedup"])
    has = best["low"] <= float(row["achieved"]) <= best["high"]
    if has != (row["covered"] == "yes"):
        return f"{row['achieved']} achieved, {best['speedup']:.2f} ({best['low']:.2f}-{best['high']:.2f}) expected"
    return "good"


with open(sys.argv[1], encoding="utf-8") as file:
    rows = list(csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t"))
for row in rows:
    with open(f"{sys.argv[2]}/{row['name']}.json", encoding="utf-8") as file:
        print(row["name"], look(row, json.load(file)["advice"]))
