#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Install below a folder, and build the example policy against what is there.
. "$SOURCE/tests/cli/common.sh"

prefix=$(meson introspect "$BUILD" --buildoptions |
	python3 -c 'import json, sys; print([o["value"] for o in json.load(sys.stdin) if o["name"] == "prefix"][0])')
DESTDIR="$tmp/root" meson install -C "$BUILD" --no-rebuild --quiet >"$tmp/log" 2>&1 || {
	cat "$tmp/log"
	fail "meson install failed"
}
top=$tmp/root$prefix
for file in bin/farthing include/farthing/policy.h include/farthing/types.h share/man/man1/farthing.1 \
	share/man/man1/farthing-compare.1 share/man/man1/farthing-plan-pack.1 share/man/man5/farthing-formats.5 \
	share/man/man7/farthing-policy.7 share/man/man8/farthingd.8 share/man/man1/farthing-submit.1 sbin/farthingd \
	libexec/farthing/farthing-runner libexec/farthing/farthing-driver-local libexec/farthing/farthing-driver-exec \
	libexec/farthing/farthing-driver-process lib/systemd/system/farthingd.service share/bash-completion/completions/farthing share/zsh/site-functions/_farthing \
	share/fish/vendor_completions.d/farthing.fish share/doc/farthing/LICENSE share/doc/farthing/README.md \
	share/doc/farthing/examples/my_policy.c; do
	[ -s "$top/$file" ] || [ -s "$top/$file.gz" ] || fail "not installed: $file"
done
for page in $(grep -o '`docs/[a-z-]*\.md`\|`CONTRIBUTING.md`\|`LICENSE`\|`examples/my_policy.c`' "$top/share/doc/farthing/README.md" | tr -d '`' | sort -u); do
	[ -s "$top/share/doc/farthing/$page" ] || fail "the installed README points to $page, which is not there"
done
for page in "$SOURCE"/docs/*.md; do
	[ -s "$top/share/doc/farthing/docs/$(basename "$page")" ] || fail "not installed: docs/$(basename "$page")"
done
pc=$(find "$top" -name farthing.pc)
[ -n "$pc" ] || fail "no farthing.pc"

cp "$top/share/doc/farthing/examples/my_policy.c" "$top/share/doc/farthing/examples/Makefile" "$tmp/"
cd "$tmp" || exit 1
PKG_CONFIG_PATH=$(dirname "$pc") PKG_CONFIG_SYSROOT_DIR=$tmp/root make -s CFLAGS=-Werror ||
	fail "the example does not build against the installed headers"
# The installed daemon finds its drivers.
"$top/sbin/farthingd" --state "$tmp/live" --check >/dev/null || fail "the installed farthingd does not find its drivers"
FARTHING=$top/bin/farthing
small
expect 0 compare -w small.fw -p ./libmy_policy.so:reserve=0.1 --format json
says '"best-fit"'
finish
