#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks `warplens report --json` and --csv outputs.

    report_figures.py REPORT.json figures FIGURES   exact figures: lines `kernel[:line] metric value`, # begins a comment
    report_figures.py REPORT.json shape             the schema, and that totals are the sums of their parts
    report_figures.py REPORT.json same OTHER.json   equal but for times and names of files
    report_figures.py REPORT.json csv KERNELS.csv LINES.csv   the tables hold the same
"""
import csv
import json
import math
import sys

SHORT = {
    "warp_inst": "smsp__inst_executed.sum",
    "thread_inst": "smsp__thread_inst_executed.sum",
    "branch": "smsp__inst_executed_op_branch.sum",
    "divergent": "smsp__branch_targets_threads_divergent.sum",
    "ld_req": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "ld_sect": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "ld_bytes": "smsp__sass_data_bytes_mem_global_op_ld.sum",
    "ld_ratio": "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
    "st_req": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "st_sect": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "st_bytes": "smsp__sass_data_bytes_mem_global_op_st.sum",
    "st_ratio": "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
    "shared_ld": "smsp__inst_executed_op_shared_ld.sum",
    "shared_st": "smsp__inst_executed_op_shared_st.sum",
    "shared_atom": "smsp__inst_executed_op_shared_atom.sum",
    "wavefronts_ld": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "wavefronts_st": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "conflicts_ld": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "conflicts_st": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "gmma": "smsp__inst_executed_pipe_tensor_op_gmma.sum",
    "wavefronts_gmma": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_gmma.sum",
    "bytes_gmma": "smsp__sass_data_bytes_mem_shared_op_gmma.sum",
    "matrix": "warplens__inst_executed_op_matrix.sum",
    "barriers": "warplens__inst_executed_op_barrier.sum",
    "ctas": "sm__ctas_launched.sum",
    "warps": "smsp__warps_launched.sum",
}
TIME = "warplens__simulation_time.sum"
errors = []


def check(good, text):
    if not good:
        errors.append(text)


def load(path):
    def no_constant(name):
        raise ValueError(f"{name} is not JSON")
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_constant=no_constant)


def by_name(report):
    return {kernel["name"]: kernel for kernel in report["kernels"]}


def line_metrics(kernel, number):
    found = [line["metrics"] for line in kernel["lines"] if line["line"] == number]
    return found[0] if len(found) == 1 else {}


def check_figures(report, path):
    kernels, count = by_name(report), 0
    with open(path, encoding="utf-8") as file:
        for text in file:
            fields = text.split("#")[0].split()
            if not fields:
                continue
            place, short, value = fields
            name, _, number = place.partition(":")
            check(name in kernels, f"no kernel {name}")
            if name not in kernels:
                continue
            metrics = line_metrics(kernels[name], int(number)) if number else kernels[name]["metrics"]
            got = metrics.get(SHORT[short], 0)
            wanted = float(value)
            check(math.isclose(got, wanted, rel_tol=1e-12), f"{place} {short}: {got:g}, expected {wanted:g}")
            count += 1
    check(count > 0, "no figure was checked")


def check_sums(what, total, parts, skip=()):
    for name, value in total.items():
        if not name.endswith(".sum") or name in skip or not any(name in part for part in parts):
            continue
        added = sum(part.get(name, 0) for part in parts)
        check(added == value, f"{what} {name}: {value}, the sum of its parts is {added}")


def check_shape(report):
    check(report["schema"] == "warplens-report/1", "schema")
    for key in ("command", "device", "created", "warplens_version", "schema_version", "complete", "exit_code", "wall_ns", "launches", "dropped"):
        check(key in report["summary"], f"summary lacks {key}")
    check([s["provenance"] for s in report["sources"]] == ["simulated"], "sources")
    check(report["summary"]["launches"] == sum(len(k["launches"]) for k in report["kernels"]), "number of launches")
    check(report["summary"]["dropped"] == 0, "something was dropped")
    indices = sorted(launch["index"] for kernel in report["kernels"] for launch in kernel["launches"])
    check(indices == list(range(len(indices))), f"launch indices {indices[:5]} ...")
    for kernel in report["kernels"]:
        name = kernel["name"]
        check(kernel["metrics"][SHORT["warp_inst"]] > 0, f"{name} executed nothing")
        check_sums(f"{name}, launches", kernel["metrics"], [launch["metrics"] for launch in kernel["launches"]])
        check_sums(f"{name}, lines", kernel["metrics"], [line["metrics"] for line in kernel["lines"]], (TIME,))
        check(all(launch["finished"] and launch["status"] == 0 for launch in kernel["launches"]), f"{name}: a launch failed")
        places = [(line["file"], line["line"]) for line in kernel["lines"]]
        check(len(places) == len(set(places)), f"{name}: a line is there twice")


def without_times(value):
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k not in (TIME, "created", "wall_ns", "path")}
    return [without_times(v) for v in value] if isinstance(value, list) else value


def check_same(report, other):
    check(without_times(report) == without_times(other), "the two reports differ")


def check_table(what, path, rows):
    """rows: [(key, metrics)] in the order of the JSON"""
    with open(path, encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    check(len(table) == len(rows), f"{what}: {len(table)} rows, JSON has {len(rows)}")
    found = {key(row): row for row in table for key in [lambda r: (r["mangled"], r.get("file", ""), r.get("line", ""))]}
    for key, metrics in rows:
        row = found.get(key)
        check(row is not None, f"{what}: no row {key}")
        for name, value in metrics.items() if row else ():
            check(name in row and row[name] != "" and math.isclose(float(row[name]), value, rel_tol=1e-9, abs_tol=1e-9),
                  f"{what}: {key} {name}: {row.get(name)} is {value} in JSON")


def check_csv(report, kernels, lines):
    check_table("kernels", kernels, [((k["mangled"], "", ""), k["metrics"]) for k in report["kernels"]])
    check_table("lines", lines, [((k["mangled"], line["file"] or "", str(line["line"])), line["metrics"])
                                 for k in report["kernels"] for line in k["lines"]])


def main():
    path, mode, *rest = sys.argv[1:]
    report = load(path)
    if mode == "figures":
        check_figures(report, rest[0])
    elif mode == "shape":
        check_shape(report)
    elif mode == "same":
        check_same(report, load(rest[0]))
    elif mode == "csv":
        check_csv(report, *rest)
    else:
        sys.exit(__doc__)
    for error in errors[:20]:
        print(f"{path}: {error}")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
