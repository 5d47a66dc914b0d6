#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Recording does not change a run; a record replays to the same, and explains itself.
. "$SOURCE/tests/cli/common.sh"
small
cd "$tmp" || exit 1

expect 0 sim -w small.fw -p no-packing --jobs-csv plain.csv
expect 0 sim -w small.fw -p no-packing --jobs-csv recorded.csv --journal run.journal
cmp plain.csv recorded.csv || fail "recording changes the run"
expect 0 replay run.journal
says "The same"
expect 0 replay run.journal --format json
says '"same": true'
expect 0 compare -w small.fw -p no-packing -p synergy --journal run.journal.zst
[ -s run.no-packing.journal.zst ] && [ -s run.synergy.journal.zst ] || fail "not one journal for each policy: $(ls)"
expect 0 replay run.synergy.journal.zst

# A decision that was changed is found, with its line.
sed 's/^A accepted launch/A refused launch/' run.journal >changed.journal
cmp -s run.journal changed.journal && fail "the journal has no launch"
"$FARTHING" replay changed.journal >out 2>err
code=$?
[ $code -eq 1 ] || [ $code -eq 2 ] || fail "a changed journal: exit code $code"
cat out err | grep -q 'changed.journal:[0-9]' || fail "the line that differs is not told: $(cat out err)"
head -n 20 run.journal >cut.journal
expect 2 replay cut.journal
complains "cut.journal:20: "
: >empty.journal
expect 2 replay empty.journal
complains "empty.journal:1: "
expect 2 explain empty.journal i0
complains "empty.journal:1: "
sed 's/^E \([0-9]*\) instance-acquired instance=i0$/E \1 instance-acquired instance=i99999/' run.journal >event.journal
expect 2 replay event.journal
complains "no such instance"
expect 2 replay /nonexistent
expect 2 replay small.fw

expect 0 explain run.journal i0
says "i0"
says '$'
key=$(sed -n '2s/,.*//p' recorded.csv)
expect 0 explain run.journal "$key"
says "$key"
# Tasks are called as plans call them, and a round's figures can be read.
printf 'farthing-workload 1\nkind A any=cpu:1,mem:1GiB\njob one submit=0s tasks=1xA:600s\njob two submit=0s kind=coupled tasks=2xA:600s,1xA:60s\n' >names.fw
expect 0 sim -w names.fw -p eva --journal names.journal
expect 0 explain names.journal two
says "task two/1 on"
says "task two/3 on"
expect 0 explain names.journal one
says "place     task one on"
grep -Eq '=[0-9]*\.[0-9]{6,}' out && fail "figures of a round with more than four digits: $(grep 'in that round' out)"
# An instance that is revoked takes its tasks with it: the job's own story says so.
printf 'farthing-catalog 1\ntype a holds=cpu:2,mem:4GiB\noffer a price=0.1 market=spot\n' >spot.fc
printf 'farthing-workload 1\nkind A any=cpu:2,mem:1GiB\njob long submit=0s tasks=1xA:36000s\n' >long.fw
expect 0 sim -w long.fw -c spot.fc -p stratus --sim revocation_rate=0.3 --sim seed=3 --sim notice=1s --journal lost.journal
expect 0 explain lost.journal long
says "warned    task long: i0 is about to be revoked"
says "lost      task long: i0 was revoked"
expect 2 explain run.journal no-such-job
complains "no-such-job"
finish
