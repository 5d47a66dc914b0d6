#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plan pack: Table 3 of Eva's paper, and the other formats.
. "$SOURCE/tests/cli/common.sh"
cd "$tmp" || exit 1

cat >catalog.txt <<'X'
farthing-catalog 1
type it1 family=f holds=gpu:4,cpu:16,mem:244GiB
type it2 family=f holds=gpu:1,cpu:4,mem:61GiB
type it3 family=f holds=cpu:8,mem:32GiB
type it4 family=f holds=cpu:4,mem:16GiB
offer it1 price=12
offer it2 price=3
offer it3 price=0.8
offer it4 price=0.4
X
cat >tasks.txt <<'X'
farthing-workload 1
kind A any=gpu:2,cpu:8,mem:24GiB
kind B any=gpu:1,cpu:4,mem:10GiB
kind C any=cpu:6,mem:20GiB
kind D any=cpu:4,mem:12GiB
job t1 submit=0s tasks=1xA:3600s
job t2 submit=0s tasks=1xB:3600s
job t3 submit=0s tasks=1xC:3600s
job t4 submit=0s tasks=1xD:3600s
X
expect 0 validate catalog.txt tasks.txt
expect 0 plan pack --workload tasks.txt --catalog catalog.txt --format json
quiet
python3 - out <<'PY' || fail "the plan of Table 3 is not 12.8 \$/h, or its JSON not as documented"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["schema"] == "farthing.plan.pack/1"
assert isinstance(d["method"], str) and d["wall_s"] >= 0
assert d["cost_per_hour"] == 12.8 and d["lower_bound_per_hour"] == 12.8 and d["gap"] == 0
assert d["no_packing_per_hour"] == 16.2
assert sorted((i["type"], sorted(i["tasks"])) for i in d["instances"]) in (
    [("it1", ["t1", "t2", "t4"]), ("it3", ["t3"])], [("it1", ["t1", "t2", "t3"]), ("it3", ["t4"])],
    [("it1", ["t1", "t2"]), ("it3", ["t3"])]), d["instances"]
PY
expect 0 plan pack --workload tasks.txt --catalog catalog.txt
says "12.80"
expect 0 plan pack --workload tasks.txt --catalog catalog.txt --format csv --out plan.csv
[ "$(wc -l <plan.csv)" -eq 5 ] || fail "not one row per task"

says_line()
{
	grep -qF "$1" out || fail "no line '$1' in: $(cat out)"
}
expect 0 plan pack --workload tasks.txt --catalog catalog.txt --format html
says_line "<h1>4 tasks on 2 instances for \$12.80 an hour</h1>"
says_line "</html>"
grep -Eq '(href|src)="?http' out && fail "the page loads something"
printf 'farthing-workload 1\nkind D any=cpu:4,mem:12GiB\njob t<b> submit=0s tasks=1xD:60s\n' >angle.txt
expect 2 plan pack --workload angle.txt --catalog catalog.txt --format xml
expect 0 plan pack --workload angle.txt --catalog catalog.txt --format html
says_line "t&lt;b&gt;"
expect 0 plan pack --workload angle.txt --catalog catalog.txt
says_line "1 task: t<b>"

# All tasks of a job are there, by number.
printf 'farthing-workload 1\nkind A any=cpu:1,mem:1GiB\njob j submit=0s kind=coupled tasks=3xA:60s\n' >many.txt
expect 0 plan pack --workload many.txt --catalog catalog.txt --format json
python3 -c '
import json, sys
t = sorted(x for i in json.load(open("out"))["instances"] for x in i["tasks"])
assert t == ["j/1", "j/2", "j/3"], t' || fail "tasks are lost"

printf 'farthing-workload 1\nkind A any=gpu:9,cpu:1,mem:1GiB\njob big submit=0s tasks=1xA:60s\n' >big.txt
expect 2 plan pack --workload big.txt --catalog catalog.txt
complains "big"
expect 2 plan pack --workload tasks.txt --catalog catalog.txt --interference x
complains "unknown option '--interference'"
# Without files: the bundled sample.
expect 0 plan pack
says "lower bound"
finish
