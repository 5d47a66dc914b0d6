#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Bad usage: exit code 2, a message that names what is wrong, and a hint where a word is near.
. "$SOURCE/tests/cli/common.sh"

expect 2 comapre
complains "no verb 'comapre' (did you mean 'compare'?)"
expect 2 zzz
complains "no verb 'zzz'"
case $err in *"did you mean"*) fail "a hint for a word that is like none" ;; esac
expect 2 plan
complains "needs a second word"
expect 2 plan pakc
complains "did you mean 'plan pack'"
expect 2 --verbose
complains "unknown option '--verbose'"
expect 2 help nothing
expect 2 help compare more
complains "one word too many"

expect 2 compare --worklod x
complains "unknown option '--worklod' (did you mean '--workload'?)"
expect 2 compare --markt x
complains "unknown option '--markt'"
expect 2 compare --workload
complains "--workload needs a value"
expect 2 compare --quiet=yes
complains "--quiet takes no value"
expect 2 compare --seed 1 --seed 2
complains "--seed is given twice"
expect 2 compare --seed -1
complains "--seed"
expect 2 compare --seed 1e3
expect 2 compare --jobs 0
complains "from 1 to"
expect 2 compare --format jsno
complains "did you mean 'json'"
expect 2 compare extra
complains "one word too many"
expect 2 compare -- --format
complains "'--format' is one word too many"
expect 2 compare -z
complains "unknown option '-z'"

expect 2 compare --policy no-packin
complains "did you mean 'no-packing'"
expect 2 compare --policy no-packing:ronud=3
complains "did you mean 'round'"
expect 2 compare --policy no-packing:round
complains "round"
expect 2 compare --policy ./no-such-policy.so
complains "no-such-policy.so"
expect 2 compare --sim launch_failur=0.5
complains "did you mean 'launch_failure'"
expect 2 compare --sim launch_failure=7
complains "a number from 0 to"
expect 2 compare --sim launch_failure
complains "key=value"
expect 2 compare --workload /nonexistent/file
complains "/nonexistent/file"
expect 2 compare --mean-gap soon
complains "--mean-gap"

# Said twice: one of them would go unheard.
expect 2 compare --policy eva:round=300s,round=400s
complains "round is given twice"
expect 2 compare --sim launch_failure=0.1 --sim launch_failure=0.2
complains "launch_failure is given twice"
expect 2 compare --seed 7 --sim seed=8
complains "seed"
expect 2 generate --jobs 3 --set jobs=4
complains "jobs is given twice"
# A bare number is seconds, and the help says so.
expect 0 generate --jobs 3 --gap 5
cp "$tmp/out" "$tmp/bare"
expect 0 generate --jobs 3 --gap 5s
cmp -s "$tmp/bare" "$tmp/out" || fail "--gap 5 is not --gap 5s"
expect 0 policies eva
says "duration in seconds or with a unit"

# What a file is called inside cannot speak to the terminal.
printf 'farthing-workload 1\nworkload name=a%%1B[31mb%%C2%%9B\nkind A any=cpu:1,mem:1GiB\njob c%%1Bd submit=0s tasks=1xA:60s\n' >"$tmp/esc.fw"
for args in "compare -p no-packing" "sim -p no-packing" "plan pack"; do
	expect 0 $args -w "$tmp/esc.fw"
	case $out in *"$(printf '\033')"*) fail "$args: an escape out of a file gets through" ;; esac
	says '\x1b'
done
printf 'farthing-workload 1\nkind A any=cpu:100000,mem:1GiB\njob c%%1Bd submit=0s tasks=1xA:60s\n' >"$tmp/esc.fw"
expect 2 compare -w "$tmp/esc.fw"
complains 'job c\x1bd'

# A reader that leaves early is no error to speak of; a full disk is, in the same words everywhere.
for args in "generate --jobs 20000" "help --markdown" "compare -p no-packing --format html"; do
	{
		"$FARTHING" $args 2>"$tmp/err"
		echo $? >"$tmp/code"
	} | head -n 1 >/dev/null
	[ "$(cat "$tmp/code")" = 141 ] || [ "$(cat "$tmp/code")" = 0 ] || fail "$args | head: exit code $(cat "$tmp/code")"
	[ -s "$tmp/err" ] && fail "$args | head: $(cat "$tmp/err")"
done
if [ -e /dev/full ]; then
	for args in "generate --jobs 20" "help" "policies" "compare -p no-packing" "plan pack"; do
		"$FARTHING" $args >/dev/full 2>"$tmp/err"
		[ $? -eq 1 ] || fail "$args: writing to a full device did not fail with 1"
		grep -q "cannot write to standard output: " "$tmp/err" || fail "$args: $(cat "$tmp/err")"
	done
fi

expect 2 explain
complains "JOB|INSTANCE is missing"
expect 2 validate
complains "FILE is missing"
expect 2 completion tcsh
complains "tcsh"
expect 2 repro eav
complains "did you mean 'eva'"
expect 2 repro eva tabel14
complains "did you mean 'table14'"
expect 2 repro eva --data /nonexistent
complains "/nonexistent"
expect 2 generate --jbos 3
complains "did you mean '--jobs'"
expect 2 generate --jobs many
complains "jobs"
finish
