#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Out-of-tree policies: the example with a parameter, and ones that misbehave.
. "$SOURCE/tests/cli/common.sh"
small

lines=$(wc -l <"$SOURCE/examples/my_policy.c")
[ "$lines" -lt 100 ] || fail "the example has $lines lines"
if grep '#include' "$SOURCE/examples/my_policy.c" | grep -v '<farthing/policy.h>'; then
	fail "the example includes more than <farthing/policy.h>"
fi

cp "$MY_POLICY" "$tmp/libmy_policy.so"
cd "$tmp" || exit 1
expect 0 policies ./libmy_policy.so
says "best-fit"
says "reserve"
expect 0 compare -w small.fw -p no-packing -p ./libmy_policy.so -p ./libmy_policy.so:reserve=0.5 --format json
python3 - out <<'PY' || fail "the example policy does not do what it should"
import json, sys
plain, tight, loose = json.load(open(sys.argv[1]))["runs"]
assert tight["policy"] == "best-fit" and tight["params"] == {"reserve": 0}, tight["params"]
assert loose["params"] == {"reserve": 0.5}
assert tight["jobs"] == loose["jobs"] == 40
assert tight["rejected_actions"] == loose["rejected_actions"] == 0
assert tight["instances_launched"] < plain["instances_launched"]
assert tight["cost_usd"] != loose["cost_usd"]
PY
expect 2 compare -w small.fw -p ./libmy_policy.so:reserve=2
complains "reserve"
expect 2 compare -w small.fw -p ./libmy_policy.so:depth=2
complains "depth"
printf 'not a shared object' >bad.so
expect 2 compare -w small.fw -p ./bad.so
complains "bad.so"

# One crashes: it is named with its signal, the other stands.
cp "$TOY_POLICY" "$tmp/libtoy.so"
for how in crash abort; do
	expect 1 compare -w small.fw -p ./libtoy.so:how=$how -p no-packing --format json
	complains "libtoy.so:how=$how: its process ended by signal"
	says '"no-packing"'
done
expect 1 compare -w small.fw -p ./libtoy.so:how=exit -p no-packing --format json
complains "exit code 5"
says '"no-packing"'
expect 1 sim -w small.fw -p ./libtoy.so:how=crash --out r.json
[ -e r.json ] && fail "a result though nothing ran"
# What a crashed or interrupted run was recording is not left behind.
mkdir j
expect 1 sim -w small.fw -p ./libtoy.so:how=crash --journal j/run.journal
[ -z "$(ls -A j)" ] || fail "left behind: $(ls -A j)"
# One does nothing: jobs are left.
expect 3 compare -w small.fw -p ./libtoy.so -p no-packing --format json
complains "libtoy.so"
says '"toy"'

# One hangs: an interrupt ends it and the program, and no process stays.
"$FARTHING" compare -w small.fw -p ./libtoy.so:how=hang --journal j/run.journal >out 2>err &
pid=$!
i=0
while [ $i -lt 100 ] && ! children=$(cat /proc/$pid/task/$pid/children 2>/dev/null | tr -d ' ' | grep .); do
	sleep 0.1
	i=$((i + 1))
done
[ -n "$children" ] || fail "the run did not start"
kill -TERM $pid
wait $pid
code=$?
[ $code -eq 130 ] || fail "interrupted: exit code $code, not 130"
[ -n "$children" ] && [ -d "/proc/$children" ] && fail "the child is still there"
[ -z "$(ls -A j)" ] || fail "left behind: $(ls -A j)"
finish
