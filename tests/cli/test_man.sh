#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every verb has a man page, and all of them are right.
. "$SOURCE/tests/cli/common.sh"

pages="$BUILD/docs/farthing.1 $SOURCE/docs/man/farthing-formats.5 $SOURCE/docs/man/farthing-policy.7 $SOURCE/docs/man/farthingd.8"
for verb in $("$FARTHING" help --markdown | sed -n 's/^## farthing //p' | tr ' ' '-'); do
	page=$BUILD/docs/farthing-$verb.1
	[ -s "$page" ] || fail "no man page for $verb"
	pages="$pages $page"
done
command -v mandoc >/dev/null 2>&1 || {
	echo "mandoc is not installed"
	[ -n "${CI:-}" ] && exit 1
	exit 77
}
for page in $pages; do
	# The other pages are not installed yet, so references to them are not looked for.
	bad=$(mandoc -T lint -W warning "$page" 2>&1 | grep -v 'referenced manual not found')
	[ -z "$bad" ] || fail "$bad"
done
mandoc -T utf8 "$BUILD/docs/farthing-compare.1" | col -b 2>/dev/null | grep -q -- '--workload' || fail "the page lacks --workload"
finish
