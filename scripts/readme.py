#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The two outputs that README.md shows are the program's own.

scripts/readme.py PROGRAM           write them anew
scripts/readme.py PROGRAM --check   exit 1 if they are not what the program prints, but for the time it takes
"""
import pathlib
import re
import subprocess
import sys

README = pathlib.Path(__file__).resolve().parent.parent / "README.md"
# What precedes the block, and what prints it.
BLOCKS = [("What `make demo` prints", ["compare"]), ("What would the same tasks", ["plan", "pack"])]


def without_times(text):
    """Seconds that the machine took: the last column of a table's row, and after the method's name."""
    text = re.sub(r" +\d+\.\d\d s$", "", text, flags=re.M)
    text = re.sub(r" +wall$", "", text, flags=re.M)
    return re.sub(r"^(method .*), \d+\.\d+ s$", r"\1", text, flags=re.M)


def main():
    program, check = sys.argv[1], "--check" in sys.argv[2:]
    text = README.read_text()
    same = True
    for before, args in BLOCKS:
        shown = subprocess.run([program, *args], check=True, stdout=subprocess.PIPE, text=True).stdout
        start = text.index("```\n", text.index(before)) + 4
        end = text.index("```\n", start)
        if check and without_times(text[start:end]) != without_times(shown):
            same = False
            print(f"README.md does not show what 'farthing {' '.join(args)}' prints ('make readme' writes it anew):")
            print(shown)
        text = text[:start] + shown + text[end:]
    if not check:
        README.write_text(text)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
