# SPDX-License-Identifier: Apache-2.0
# The front door: installs what is missing, then lets Meson and Ninja do the work.

BUILD ?= build
SAN ?= build-san
FUZZ ?= build-fuzz
PREFIX ?= /usr/local
DESTDIR ?=
# Seconds each fuzz target runs.
FUZZ_SECONDS ?= 60
# How often farthingd is killed in a soak, and where its draws begin.
SOAK_KILLS ?= 25
SOAK_SEED ?= 1

.PHONY: all demo live-demo build daemon test soak bench fuzz docs readme install clean help deps

all: demo

help:
	@echo "make            the same as make demo"
	@echo "make demo       install what is missing, build, compare all policies on the bundled sample"
	@echo "make live-demo  a live cluster on this machine: farthingd, some dozens of jobs, the bill; within a minute"
	@echo "make build      build only: $(BUILD)/farthing"
	@echo "make test       all tests, plain and with sanitizers"
	@echo "make soak       farthingd under faults: killed SOAK_KILLS=$(SOAK_KILLS) times, with SOAK_SEED=$(SOAK_SEED)"
	@echo "make bench      benchmarks with growth curves"
	@echo "make fuzz       run each fuzz target for FUZZ_SECONDS=$(FUZZ_SECONDS) seconds (clang)"
	@echo "make docs       write docs/cli.md anew, after options have changed"
	@echo "make readme     write the outputs in README.md anew, after results have changed"
	@echo "make install    PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)"
	@echo "make clean      remove the build folders"

$(BUILD)/build.ninja: | deps
	@meson setup $(BUILD) --prefix=$(PREFIX) >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log

deps:
	@scripts/deps.sh build

# Only the program: tests and pages are built where they are needed.
build: $(BUILD)/build.ninja
	@echo "building $(BUILD)/farthing"
	@ninja -C $(BUILD) farthing >$(BUILD)/ninja.log 2>&1 || { cat $(BUILD)/ninja.log; exit 1; }

demo: build
	@$(BUILD)/farthing compare --html farthing-report.html
	@echo
	@echo "The full report is in $(CURDIR)/farthing-report.html: open it in a browser."

# farthingd with its drivers.
daemon: build
	@ninja -C $(BUILD) farthingd drivers >$(BUILD)/ninja.log 2>&1 || { cat $(BUILD)/ninja.log; exit 1; }

live-demo: daemon
	@scripts/live-demo.sh $(BUILD)

soak: daemon
	@scripts/soak.sh $(BUILD) $(SOAK_KILLS) $(SOAK_SEED)

test:
	@scripts/deps.sh test
	@scripts/test.sh $(BUILD) $(SAN)

bench: build
	@ninja -C $(BUILD) --quiet
	@scripts/bench.sh $(BUILD)

fuzz:
	@scripts/deps.sh fuzz
	@scripts/fuzz.sh $(FUZZ) $(FUZZ_SECONDS)

docs: build
	@$(BUILD)/farthing help --markdown >docs/cli.md

# What README.md shows of the program, after its results have changed.
readme: build
	@scripts/readme.py $(BUILD)/farthing

install: build
	@meson configure $(BUILD) --prefix=$(PREFIX) >/dev/null
	@ninja -C $(BUILD) >$(BUILD)/ninja.log 2>&1 || { cat $(BUILD)/ninja.log; exit 1; }
	@DESTDIR=$(DESTDIR) meson install -C $(BUILD) --no-rebuild --quiet
	@echo "installed below $(DESTDIR)$(PREFIX)"

clean:
	rm -rf $(BUILD) $(SAN) $(FUZZ) $(BUILD).log
