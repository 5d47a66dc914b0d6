#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the documents say of the program is so: README's outputs, and every field of every result.
. "$SOURCE/tests/cli/common.sh"
small
cd "$tmp" || exit 1

python3 "$SOURCE/scripts/readme.py" "$FARTHING" --check || fail "README.md shows something else than the program prints"

"$FARTHING" compare -w small.fw -p eva --sim launch_failure=0.2 --format json --jobs-csv jobs.csv --instances-csv instances.csv >compare.json
"$FARTHING" compare -w small.fw -p no-packing --format csv >compare.csv
"$FARTHING" sim -w small.fw -p no-packing --format json --journal run.journal >sim.json
"$FARTHING" plan pack -w small.fw --format json >pack.json
"$FARTHING" bound -w small.fw --format json >bound.json
"$FARTHING" bound -w small.fw --format csv >bound.csv
"$FARTHING" plan pack -w small.fw --format csv >pack.csv
"$FARTHING" replay run.journal --format json >replay.json
"$FARTHING" policies --format json >policies.json
"$FARTHING" version --format json >version.json
python3 - "$SOURCE/docs/formats.md" *.json *.csv <<'PY' || fail "docs/formats.md does not name every field"
import json, re, sys
known = set(re.findall(r"`([a-z0-9_]+)`", open(sys.argv[1]).read()))
free = {"params", "notes", "rejected_by", "hours_by_contract"}  # objects whose keys are names of the data
def walk(v, where, bad):
    if isinstance(v, dict):
        for k, x in v.items():
            if k not in known:
                bad.append(f"{where}: {k}")
            if k in free and isinstance(x, dict):
                x = list(x.values()) if k == "notes" else []
            walk(x, where, bad)
    elif isinstance(v, list):
        for x in v:
            walk(x, where, bad)
bad = []
for f in sys.argv[2:]:
    if f.endswith(".json"):
        walk(json.load(open(f)), f, bad)
    else:
        bad += [f"{f}: {c}" for c in open(f).readline().strip().split(",") if c not in known]
print("\n".join(sorted(set(bad))))
sys.exit(bool(bad))
PY

# Every page is named in the README.
for page in "$SOURCE"/docs/*.md; do
	grep -q "docs/$(basename "$page")" "$SOURCE/README.md" || fail "README.md does not name docs/$(basename "$page")"
done
finish
