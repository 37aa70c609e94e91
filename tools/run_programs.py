#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs many built CUDA programs under `warplens run` and says which ones work, and why the others do not.

    tools/run_programs.py PROGRAMS [options]

PROGRAMS is a manifest - lines of `program TAB executable TAB arguments TAB working directory`, no header; paths relative
to the manifest - or a folder with one folder per program, whose one executable file is the program.

A program passes when it ends by itself with exit code 0, prints no word of failure and, where the list or the reference
says it prints PASS (or a like word), prints it. HeCBench programs print FAIL and exit 0, PolyBench counts "Non-Matching
CPU-GPU Outputs": that is why the words are read. With --reference, what the program printed is compared line by line
with what it printed on a GPU: other words fail, other numbers are only told, lines about times and rates are passed over.
peak_mb is of the largest process of the run, and never below this script's own size (it starts them).
Exit code: 0 all pass, 1 not all, 2 wrong usage.
"""
import argparse
import collections
import concurrent.futures
import csv
import dataclasses
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

PASS_LINE = re.compile(r"\bpass(ed)?\b|\bsuccess(ful(ly)?)?\b|\breturned ok\b|\bresults?: ok\b|non-matching.*:\s*0\s*$", re.I)
FAIL_LINE = re.compile(r"\b(fail(ed|ures?|s)?|mismatch(es|ed)?|incorrect|wrong|invalid results?)\b|non-matching.*:\s*[1-9]", re.I)
NO_FAILURE = re.compile(r"\b(0|no|zero)\s+(fail|mismatch|error)|\b(fail\w*|mismatch\w*|errors?)\s*[:=]\s*0\s*$", re.I)
# Lines whose numbers differ from run to run, or from machine to machine with the same GPU.
TIMES = re.compile(
    r"\btimes?\b|\bsec(ond)?s?\b|\b[mun]?s(ec)?\b|elapsed|duration|bandwidth|throughput|perf|speed|rate\b|clock|"
    r"flops?\b|[a-z]/s\b|\bcycles?\b|iterations while waiting|latency|occupan|\bseed\b|\bmemory\b|"
    r"\bcpus\b|\d:\d\d:\d\d|_parity", re.I)
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|\b[-+]?(?:nan|inf)\b", re.I)

# What the first message of warplens is about: (cause, pattern), the first that matches.
CAUSES = [
    ("unimplemented API", re.compile(r"(\w+) is not implemented")),
    ("unsupported instruction", re.compile(r"`([^`]+)` cannot be executed")),
    ("deadlock", re.compile(r"can make no progress")),
    ("fault", re.compile(r"kernel `.*`: ")),
    ("PTX not understood", re.compile(r"\.ptx.*:\d+:\d+: error")),
    ("not runnable", re.compile(r"cannot be run|cannot run|cannot be simulated|symbol lookup error")),
    ("other", re.compile(r"")),
]
HARMLESS = re.compile(r"warplens: (warning|note|profile in)|warplens: .*: (warning|note): ")


@dataclasses.dataclass
class Program:
    name: str
    path: str
    args: str
    folder: str
    pass_words: int = None  # as the list says; None = not known


@dataclasses.dataclass
class Result:
    program: str
    verdict: str  # pass, fail
    ran: str      # yes, no: ended by itself before the time was up
    exit_code: str
    words: str    # PASS, FAIL, none
    reference: str  # same, words, numbers, -
    seconds: float
    peak_mb: int
    cause: str
    detail: str


def executables_below(folder):
    for name in sorted(os.listdir(folder)):
        inside = os.path.join(folder, name)
        if not os.path.isdir(inside):
            continue
        found = [os.path.join(inside, f) for f in sorted(os.listdir(inside)) if is_elf(os.path.join(inside, f))]
        if found:
            yield Program(name, found[0], "", inside)


def is_elf(path):
    if not (os.path.isfile(path) and os.access(path, os.X_OK)):
        return False
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def read_manifest(path):
    base = os.path.dirname(os.path.abspath(path))
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip() or line.startswith("#"):
                continue
            fields = line.rstrip("\n").split("\t")
            if len(fields) < 2:
                sys.exit(f"run_programs: {path}:{number}: a line needs program, executable, arguments, folder")
            name, executable, args, folder = (fields + ["", ""])[:4]
            executable = os.path.join(base, executable)
            yield Program(name, executable, args, os.path.join(base, folder) if folder else os.path.dirname(executable))


def read_list(path):
    """program -> row of a list of programs: a header, then columns program, args, pass_words and others."""
    with open(path, encoding="utf-8", newline="") as file:
        return {row["program"]: row for row in csv.DictReader(file, delimiter="\t")}


def choose_programs(options):
    given = options.programs
    if not os.path.exists(given):
        sys.exit(f"run_programs: there is no {given}")
    programs = list(executables_below(given) if os.path.isdir(given) else read_manifest(given))
    if options.list:
        rows = read_list(options.list)
        by_name = {p.name: p for p in programs}
        programs = [by_name.get(name) or Program(name, "", "", ".") for name in rows]
        for p in programs:
            p.args = rows[p.name].get("args") or p.args
            p.pass_words = int(rows[p.name].get("pass_words") or 0)
    if options.only:
        programs = [p for p in programs if re.search(options.only, p.name)]
    return programs


# --- what a program printed -------------------------------------------------------------------------------------------

def fail_lines(text):
    return [line.strip() for line in text.splitlines() if FAIL_LINE.search(line) and not NO_FAILURE.search(line)]


def pass_count(text):
    return sum(1 for line in text.splitlines() if PASS_LINE.search(line))


def without_numbers(line):
    return " ".join(NUMBER.sub("#", line).split())


def is_about_time(lines, i):
    """A number alone on its line belongs to the line before it."""
    if TIMES.search(lines[i]):
        return True
    return i > 0 and not re.search(r"[A-Za-z]{2}", lines[i]) and bool(TIMES.search(lines[i - 1]))


def results_of(text):
    """[(words, numbers)] of the lines that every run prints alike."""
    lines = [line for line in text.splitlines() if line.strip()]
    return [(without_numbers(line), [float(x) for x in NUMBER.findall(line)])
            for i, line in enumerate(lines) if not is_about_time(lines, i)]


def close(a, b):
    return a == b or (a != a and b != b) or abs(a - b) <= 1e-4 * max(abs(a), abs(b)) or max(abs(a), abs(b)) < 1e-6


def compare(text, reference):
    """("same" | "words" | "numbers", what differs first)."""
    got, wanted = results_of(text), results_of(reference)
    missing = collections.Counter(w for w, _ in wanted) - collections.Counter(w for w, _ in got)
    added = collections.Counter(w for w, _ in got) - collections.Counter(w for w, _ in wanted)
    if missing or added:
        first = next((w for w, _ in wanted if w in missing), None)
        other = next((w for w, _ in got if w in added), None)
        return "words", f"`{other or 'nothing'}` where a GPU prints `{first or 'nothing'}`"
    pools = collections.defaultdict(list)
    for words, numbers in wanted:
        pools[words].append(numbers)
    for words, numbers in got:
        expected = pools[words].pop(0)
        for a, b in zip(numbers, expected):
            if not close(a, b):
                return "numbers", f"{a:g} where a GPU prints {b:g} in `{words}`"
    return "same", ""


# --- one program ------------------------------------------------------------------------------------------------------

def run_command(command, folder, limit):
    """(exit code or None when the time was up, stdout, stderr, seconds, peak MB)"""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.monotonic()
        child = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
        code, peak = wait_for(child, begin + limit)
        seconds = time.monotonic() - begin
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read(64 << 20).decode("utf-8", "replace"))
    return code, texts[0], texts[1], seconds, peak


def wait_for(child, deadline):
    late = False
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            child.returncode = os.waitstatus_to_exitcode(status)
            return None if late else child.returncode, usage.ru_maxrss // 1024
        if not late and time.monotonic() > deadline:
            late = True
            os.killpg(child.pid, signal.SIGKILL)
        time.sleep(0.01)


def cause_of(code, text, errors, limit):
    """(cause, detail) of a run that is already known to have failed."""
    own = [line for line in errors.splitlines() if line.startswith("warplens:") and not HARMLESS.match(line)]
    if own:
        for cause, pattern in CAUSES:
            match = pattern.search(own[0])
            if match:
                named = match.group(1) + ": " if match.groups() else ""
                return cause, named + own[0].removeprefix("warplens: ")
    if code is None:
        return "timeout", f"longer than {limit:g} s"
    loader = next((line for line in errors.splitlines() if "symbol lookup error" in line or "error while loading" in line), None)
    if loader:
        return "not runnable", loader
    if code < 0 or code > 128:
        number = -code if code < 0 else code - 128
        return "killed", signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    failed = fail_lines(text)
    if failed:
        return "wrong result", failed[0]
    if code:
        last = [line for line in (errors + "\n" + text).splitlines() if line.strip()]
        return "exit code", last[-1].strip() if last else ""
    return "no verdict", "the words of success are missing"


def read_reference(options, program):
    if not options.reference:
        return None
    path = os.path.join(options.reference, program.name + ".txt")
    if not os.path.isfile(path):
        return None
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def judge(program, reference, code, text):
    """(passed, words, reference column, detail)"""
    failed, passed = fail_lines(text), pass_count(text)
    tolerated = [without_numbers(line) for line in fail_lines(reference or "")]
    failed = [line for line in failed if without_numbers(line) not in tolerated]
    wanted = pass_count(reference) if reference is not None else min(program.pass_words or 0, 1)
    words = "FAIL" if failed else "PASS" if passed else "none"
    good = code == 0 and not failed and passed >= wanted
    if reference is None:
        return good, words, "-", ""
    same, what = compare(text, reference)
    return good and same != "words", words, same, what


def run_program(options, program, scratch):
    result = Result(program.name, "fail", "no", "-", "none", "-", 0, 0, "not built", "no executable in the manifest or folder")
    if not is_elf(program.path):
        return result
    profile = os.path.join(options.keep or scratch, program.name + ".wlp")
    command = [options.warplens, "run", "-q", "-f", "-o", profile, "--threads", str(options.threads)] + shlex.split(options.options)
    command += ["--", program.path] + shlex.split(program.args)
    code, text, errors, result.seconds, result.peak_mb = run_command(command, program.folder, options.limit)
    text = text.replace(program.path, program.name)  # many print argv[0]
    keep_output(options, program, text, errors)
    reference = read_reference(options, program)
    good, result.words, result.reference, difference = judge(program, reference, code, text)
    result.ran = "no" if code is None else "yes"
    result.exit_code = "-" if code is None else str(code)
    result.verdict = "pass" if good else "fail"
    result.cause, result.detail = ("", "") if good else cause_of(code, text, errors, options.limit)
    if result.reference in ("words", "numbers") and result.cause in ("", "no verdict"):
        result.cause, result.detail = ("" if good else "wrong result"), difference
    if os.path.exists(profile) and not options.keep:
        os.remove(profile)
    return result


def keep_output(options, program, text, errors):
    if not options.keep:
        return
    for extension, content in ((".out", text), (".err", errors)):
        with open(os.path.join(options.keep, program.name + extension), "w", encoding="utf-8") as file:
            file.write(content)


# --- output -----------------------------------------------------------------------------------------------------------

FIELDS = [field.name for field in dataclasses.fields(Result)]


def plain(value):
    text = f"{value:.2f}" if isinstance(value, float) else str(value)
    return " ".join(text.split())


def print_row(result, width, color):
    mark = result.verdict if not color else f"\033[{32 if result.verdict == 'pass' else 31}m{result.verdict}\033[0m"
    note = f"{result.cause}: {result.detail}" if result.cause else result.detail and f"({result.detail})"
    print(f"{mark}  {result.program:<{width}}  exit {result.exit_code:>3}  {result.words:<4}  {result.reference:<7} "
          f"{result.seconds:7.2f} s {result.peak_mb:6d} MB  {plain(note)[:160]}".rstrip(), flush=True)


def print_summary(results):
    passed = sum(r.verdict == "pass" for r in results)
    print(f"\n{passed} of {len(results)} programs pass ({100 * passed / max(len(results), 1):.1f} %)")
    odd = [r.program for r in results if r.verdict == "pass" and r.reference == "numbers"]
    if odd:
        print(f"{len(odd)} of those print other numbers than the reference: {' '.join(odd)}")
    causes = collections.Counter(r.cause for r in results if r.verdict != "pass")
    for cause, count in causes.most_common():
        print(f"  {count:4d}  {cause}")
        for what, n in collections.Counter(plain(r.detail)[:110] for r in results if r.verdict != "pass" and r.cause == cause).most_common(8):
            print(f"        {n:4d}  {what}")


def write_tsv(path, results):
    with (sys.stdout if path == "-" else open(path, "w", encoding="utf-8")) as file:
        print("\t".join(FIELDS), file=file)
        for result in results:
            print("\t".join(plain(getattr(result, name)) for name in FIELDS), file=file)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", help="manifest, or folder of folders")
    parser.add_argument("--warplens", default=None, help="the command (default: the release build, else the one in PATH)")
    parser.add_argument("--list", help="run these programs, with these arguments: a TSV with columns program, args, pass_words")
    parser.add_argument("--reference", metavar="FOLDER", help="PROGRAM.txt: what each printed on a GPU")
    parser.add_argument("--only", metavar="REGEX", help="only programs whose name matches")
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS", help="for one program (default 60)")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="programs at a time (default 2)")
    parser.add_argument("--threads", type=int, default=1, help="host threads of each simulation (default 1)")
    parser.add_argument("--options", default="", help="more options for warplens run, in one string")
    parser.add_argument("--tsv", metavar="FILE", help="also write a table; - writes only that, on stdout")
    parser.add_argument("--keep", metavar="FOLDER", help="keep every profile, stdout and stderr there")
    options = parser.parse_args()
    if options.warplens is None:
        built = os.path.join(ROOT, "build/release/bin/warplens")
        options.warplens = built if os.access(built, os.X_OK) else "warplens"
    elif os.path.dirname(options.warplens):
        options.warplens = os.path.abspath(options.warplens)
    if options.keep:
        options.keep = os.path.abspath(options.keep)
        os.makedirs(options.keep, exist_ok=True)
    return options


def main():
    options = parse_options()
    programs = choose_programs(options)
    if not programs:
        sys.exit("run_programs: no program to run")
    width = max(len(p.name) for p in programs)
    results = []
    with tempfile.TemporaryDirectory(prefix="warplens-programs-") as scratch:
        with concurrent.futures.ThreadPoolExecutor(max(options.jobs, 1)) as pool:
            for result in pool.map(lambda p: run_program(options, p, scratch), programs):
                results.append(result)
                if options.tsv != "-":
                    print_row(result, width, sys.stdout.isatty())
    if options.tsv:
        write_tsv(options.tsv, results)
    if options.tsv != "-":
        print_summary(results)
    return 0 if all(r.verdict == "pass" for r in results) else 1


if __name__ == "__main__":
    sys.exit(main())
