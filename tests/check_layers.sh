#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The folders of src/ are layers: this names every include that points the wrong way, and every use of
# a clock, a random device, a file or a socket where decisions are made.
#
#   check_layers.sh ROOT          check ROOT/src
#   check_layers.sh --self-test   check that the checker finds what it should
set -u

# What each folder may include besides itself.
allowed()
{
	case $1 in
	base) echo "" ;;
	model) echo "base" ;;
	predict | optimize) echo "base model" ;;
	engine | trace) echo "base model" ;;
	policies) echo "base model predict optimize" ;;
	sim) echo "base model engine" ;;
	report) echo "base model optimize engine" ;;
	store) echo "base model trace engine" ;;
	drivers) echo "base" ;;
	daemon) echo "base model predict trace engine policies report store drivers" ;;
	cli) echo "base model predict optimize trace engine policies sim report store" ;;
	*) return 1 ;;
	esac
}

check_includes()
{
	for dir in "$1"/src/*/; do
		layer=$(basename "$dir")
		if ! may=$(allowed "$layer"); then
			echo "$dir: a folder the layering check does not know" >&2
			bad=1
			continue
		fi
		# file:line:#include "folder/..."; a name without a folder is of the file's own folder.
		found=$(find "$dir" -name '*.[ch]' | sort | xargs grep -Hn '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' |
			awk -F: -v may=" $may $layer " '{
				line = $0
				sub(/^[^"]*"/, "", line)
				sub(/".*/, "", line)
				n = split(line, part, "/")
				if (n > 1 && index(may, " " part[1] " ") == 0)
					printf "%s:%s: includes %s\n", $1, $2, line
			}')
		if [ -n "$found" ]; then
			echo "$found" | sed "s|\$|: $layer may include only: ${may:-nothing}|" >&2
			bad=1
		fi
	done
}

# Engine and policies decide: what they use must come in as an event or a parameter.
check_purity()
{
	for layer in model predict optimize engine policies; do
		[ -d "$1/src/$layer" ] || continue
		found=$(find "$1/src/$layer" -name '*.[ch]' | sort | xargs -r grep -Hne \
			'\<\(time\|clock\|clock_gettime\|gettimeofday\|localtime\|rand\|srand\|random\|drand48\|getrandom\|arc4random\|fopen\|open\|openat\|creat\|socket\|connect\|getenv\|printf\|puts\|system\|popen\|fork\)[[:space:]]*(' |
			grep -v ':[0-9]*:[[:space:]]*\(/\*\|\*\|//\)')
		if [ -n "$found" ]; then
			echo "$found" | sed 's|$|   <- no clock, random device, file, socket or output here|' >&2
			bad=1
		fi
	done
}

# libm's transcendental functions differ by machine in the last bit; base has its own.
check_libm()
{
	for layer in model predict optimize trace engine policies sim; do
		[ -d "$1/src/$layer" ] || continue
		found=$(find "$1/src/$layer" -name '*.[ch]' | sort | xargs -r grep -Hne \
			'\<\(log\|log2\|log10\|log1p\|exp\|exp2\|expm1\|pow\|sin\|cos\|tan\|atan2\|tanh\|lgamma\|tgamma\|erf\|cbrt\)[[:space:]]*(' |
			grep -v ':[0-9]*:[[:space:]]*\(/\*\|\*\|//\)')
		if [ -n "$found" ]; then
			echo "$found" | sed 's|$|   <- its last bit depends on the machine: see fth_log, fth_exp in base|' >&2
			bad=1
		fi
	done
}

check()
{
	bad=0
	check_includes "$1"
	check_purity "$1"
	check_libm "$1"
	return $bad
}

self_test()
{
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	mkdir -p "$tmp/src/policies" "$tmp/src/base"
	printf '#include "base/base.h"\n/* fopen() is not for us */\nint f(void);\n' >"$tmp/src/policies/good.c"
	check "$tmp" || { echo "a good file was refused" >&2; exit 1; }
	for line in '#include "sim/sim.h"' '#include "engine/engine.h"' '#include "trace/trace.h"' '#include "report/run.h"' '#  include "cli/cli.h"' 'x = time(NULL);' \
		'f = fopen("a", "r");' 'x = rand ();' 'clock_gettime(CLOCK_REALTIME, &t);' 'x = exp(2.0);'; do
		printf 'int a;\n%s\n' "$line" >"$tmp/src/policies/bad.c"
		if out=$(check "$tmp" 2>&1); then
			echo "not found: $line" >&2
			exit 1
		fi
		case $out in
		*"bad.c:2:"*) ;;
		*) echo "found, but not by file and line: $line: $out" >&2; exit 1 ;;
		esac
	done
	echo "the checker finds what it should"
}

case "${1:-}" in
--self-test) self_test ;;
"") echo "usage: check_layers.sh ROOT | --self-test" >&2; exit 2 ;;
*) check "$1" && echo "includes point one way" ;;
esac
