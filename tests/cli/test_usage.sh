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

expect 2 explain
complains "JOURNAL is missing"
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
