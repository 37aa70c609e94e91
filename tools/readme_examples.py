#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs what README.md shows and puts what is printed there: tools/readme_examples.py, after the model or advice has changed.

Needs the release build; $WARPLENS names another warplens. Exit code: 0 written or already so, 1 something did not run.
"""
import lzma
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WARPLENS = os.path.abspath(os.environ.get("WARPLENS", os.path.join(ROOT, "build/release/bin/warplens")))
WIDTH = 100
BLOCK = r"(?:    .*\n|\n(?=    ))+"


def run(folder, *arguments):
    """What a terminal of WIDTH columns shows, the program's own output first."""
    environment = dict(os.environ, COLUMNS=str(WIDTH), WARPLENS_PROGRESS="0")
    done = subprocess.run([WARPLENS, *arguments], cwd=folder, env=environment, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"readme_examples: warplens {' '.join(arguments)}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def indented(text):
    return "".join(f"    {line}".rstrip() + "\n" for line in text.splitlines())


def shown(folder, command):
    return indented(f"$ {command}\n" + run(folder, *command.split()[1:]))


def microseconds(text):
    return float(re.search(r"GPU time +([0-9.]+) us", text).group(1))


def advice_example(readme, folder):
    """The first block and the sentence behind it, which says what following the first piece of advice brings."""
    program = "build/demo/matmul"
    os.makedirs(os.path.join(folder, "build/demo"))
    with lzma.open(os.path.join(ROOT, "examples/prebuilt/matmul.xz")) as packed:
        with open(os.path.join(folder, program), "wb") as out:
            out.write(packed.read())
    os.chmod(os.path.join(folder, program), 0o755)
    block = shown(folder, f"warplens run --timing {program} --variant global --n 128") + "\n"
    block += shown(folder, "warplens advise matmul.1.wlp")
    run(folder, "run", "--timing", "-o", "naive.wlp", program, "--variant", "naive", "--n", "128")
    before, after = microseconds(block), microseconds(run(folder, "advise", "naive.wlp"))
    low, high = (float(x) for x in re.search(r"x \(([0-9.]+)-([0-9.]+)\)", block).groups())
    inside = "inside" if low <= before / after <= high else "outside of"
    sentence = (f"`--variant naive`: {after:.3g} us instead of {before:.3g}, {before / after:.1f} times as fast, "
                f"{inside} the interval.")
    readme = replace(readme, r"    \$ warplens run --timing build/demo/matmul.*\n" + BLOCK, block)
    return replace(readme, r"`--variant naive`: [^\n]* the interval\.", sentence)


def timing_example(readme, folder):
    """Of the report on a kernel: what its warps wait for, and at which two lines most."""
    example = os.path.join(ROOT, "examples/bitonic/bitonic")
    run(folder, "sim", f"{example}.ptx", "--launch", f"{example}.launch", "--timing", "-o", "bitonic.wlp")
    report = run(folder, "report", "--section", "timing", "bitonic.wlp").splitlines()
    first = next(i for i, line in enumerate(report) if line.startswith("  bshared:"))
    waits = next(i for i, line in enumerate(report) if i > first and line.startswith("    warps wait"))
    table = next(i for i, line in enumerate(report) if i > first and line.startswith("  line "))
    lines = [report[first][2:]]
    lines += [line[2:] for line in report[waits:waits + 2] if line.startswith(("    warps wait", "     "))]
    return replace(readme, r"    bshared: .*\n" + BLOCK, indented("\n".join(lines + report[table:table + 3])))


def replace(text, pattern, new):
    changed, count = re.subn(pattern, lambda _: new, text, count=1)
    if not count:
        sys.exit(f"readme_examples: README.md has nothing like {pattern}")
    return changed


def main():
    path = os.path.join(ROOT, "README.md")
    with open(path, encoding="utf-8") as file:
        readme = file.read()
    with tempfile.TemporaryDirectory() as folder:
        changed = timing_example(advice_example(readme, folder), folder)
    with open(path, "w", encoding="utf-8") as file:
        file.write(changed)


if __name__ == "__main__":
    main()
