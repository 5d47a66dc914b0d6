#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Help of the program and of every verb; docs/cli.md is what the program prints.
. "$SOURCE/tests/cli/common.sh"

expect 0 --help
says "Usage: farthing VERB"
says "130"
expect 0 help
expect 2
complains "Usage: farthing VERB"
expect 0 --version
says "farthing "
expect 0 version --format json
says '"schema":"farthing.version/1"'

for verb in compare sim "plan pack" import generate validate policies replay explain repro help version completion; do
	# Unquoted: "plan pack" is two words.
	expect 0 help $verb
	says "Usage: farthing $verb"
	says "--help"
	text=$out
	expect 0 $verb --help
	[ "$text" = "$out" ] || fail "'$verb --help' and 'help $verb' differ"
	quiet
	expect 0 help
	says "  $verb "
done
expect 0 compare --help
for option in workload catalog interference policy format out seed jobs workload-format catalog-format \
	interference-format sim journal jobs-csv instances-csv html color quiet; do
	says "--$option"
done
says "launch_failure"
expect 0 generate --help
says "Parameters"

expect 0 help --markdown
if ! printf '%s\n' "$out" | cmp -s - "$SOURCE/docs/cli.md"; then
	fail "docs/cli.md is not what the program says: build/farthing help --markdown >docs/cli.md"
	printf '%s\n' "$out" | diff - "$SOURCE/docs/cli.md" | head -n 10
fi
finish
