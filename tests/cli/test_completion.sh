#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The completion scripts: right syntax, and bash's really completes.
. "$SOURCE/tests/cli/common.sh"

expect 0 completion bash
cp "$tmp/out" "$tmp/farthing.bash"
bash -n "$tmp/farthing.bash" || fail "bash does not take the script"
expect 0 completion zsh
cp "$tmp/out" "$tmp/_farthing"
if command -v zsh >/dev/null 2>&1; then
	zsh -n "$tmp/_farthing" || fail "zsh does not take the script"
fi
expect 0 completion fish
cp "$tmp/out" "$tmp/farthing.fish"
if command -v fish >/dev/null 2>&1; then
	fish --no-execute "$tmp/farthing.fish" || fail "fish does not take the script"
fi

# complete WORDS... WANT: what bash offers for the last word.
offers()
{
	want=$1
	shift
	got=$(bash -c 'source "$1"; shift; COMP_WORDS=(farthing "$@"); COMP_CWORD=$#; _farthing; echo "${COMPREPLY[@]}"' \
		- "$tmp/farthing.bash" "$@")
	case " $got " in
	*" $want "*) ;;
	*) fail "for '$*' bash offers '$got', not $want" ;;
	esac
}
offers compare comp
offers plan pl
offers pack plan ""
offers --workload compare --wor
offers json compare --format ""
offers json compare --format js
offers html compare --format = h
offers no-packing compare --policy no
# Policies by name first, then what can be loaded, and no other file.
mkdir "$tmp/here" && touch "$tmp/here/mine.so" "$tmp/here/notes.txt" && cd "$tmp/here" || exit 1
offers ./mine.so compare --policy ""
case $got in "farthing "*) ;; *) fail "not policies first: $got" ;; esac
case $got in *notes.txt*) fail "a file that is no policy: $got" ;; esac
offers ./mine.so compare --policy ./
offers launch_failure= compare --sim ""
offers --catalog plan pack --cat
offers bash completion ""
offers table14 repro eva ta
offers --jobs generate --j
finish
