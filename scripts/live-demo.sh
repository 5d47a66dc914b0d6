#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A live cluster in one command: farthingd with its built-in configuration in a temporary folder, some dozens of short jobs, machines that come
# and go, the bill, and a replay of all that was decided.
#
#   live-demo.sh BUILD
set -eu
build=$1
dir=$(mktemp -d)
state=$dir/state
export FARTHING_SOCKET="$state/farthingd.sock"
daemon=

finish()
{
	[ -z "$daemon" ] || kill "$daemon" 2>/dev/null || true
	[ -z "$daemon" ] || wait "$daemon" 2>/dev/null || true
	rm -rf "$dir"
}
trap finish EXIT
trap 'exit 130' INT TERM

show()
{
	echo
	echo "\$ farthing $*"
	"$build/farthing" "$@"
}

jobs_left()
{
	"$build/farthing" jobs --format json | python3 -c 'import json,sys
print(sum(j["state"] in ("waiting", "bound", "running") for j in json.load(sys.stdin)["jobs"]))'
}

echo "farthingd runs here with its built-in configuration (farthingd --print-config):"
echo "jobs are processes of this machine; machines take a second to boot and have a price."
"$build/farthingd" --state "$state" 2>"$dir/log" &
daemon=$!
for i in $(seq 100); do
	"$build/farthing" jobs >/dev/null 2>&1 && break
	kill -0 "$daemon" 2>/dev/null || { cat "$dir/log"; exit 1; }
	sleep 0.1
done

echo
echo "36 jobs are submitted, as in: farthing submit --name etl --demand cpu:1,mem:1GiB 'sleep 4'"
for i in $(seq 36); do
	case $((i % 3)) in
	0) "$build/farthing" submit --name etl --demand cpu:1,mem:1GiB "sleep $((3 + i % 4))" ;;
	1) "$build/farthing" submit --name train --demand cpu:2,mem:2GiB "sleep $((6 + i % 5))" ;;
	2) "$build/farthing" submit --name report --demand cpu:1,mem:2GiB --tasks 2 "sleep $((2 + i % 3))" ;;
	esac
done >/dev/null

sleep 5
show instances
show jobs --state running | head -n 12
for i in $(seq 40); do
	left=$(jobs_left)
	printf '%s jobs left, %s machines\n' "$left" "$("$build/farthing" instances | tail -n +2 | wc -l)"
	[ "$left" = 0 ] && break
	sleep 2
done
show instances
show explain etl-3
show bill --by instances
show bill

echo
echo "The cluster is let run empty and farthingd is stopped; then the journal is fed to the policy again:"
"$build/farthing" drain --all >/dev/null
for i in $(seq 100); do
	[ "$("$build/farthing" instances | wc -l)" = 1 ] && break
	sleep 0.1
done
kill "$daemon"
wait "$daemon"
daemon=
echo
echo "\$ farthing replay journal.db"
"$build/farthing" replay "$state/journal.db"
