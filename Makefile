# SPDX-License-Identifier: Apache-2.0
# The front door: `make` lists what it can do. The line after ## above a target is its line in that list.

SWIFT ?= swift
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

BUILD_PACKAGES := libpcsclite-dev libnfc-dev libqrencode-dev libsqlite3-dev
DEMO_PACKAGES := $(BUILD_PACKAGES) curl
TEST_PACKAGES := $(DEMO_PACKAGES) pcscd vsmartcard-vpcd iproute2 util-linux sqlite3 python3 python3-venv zbar-tools librsvg2-bin haproxy nodejs node-typescript softhsm2 opensc opensc-pkcs11 $(SWITCH_PACKAGES) postgresql-15

# The switch and its tests want PostgreSQL, which no other program does.
SWITCH_PACKAGES := libpq-dev
DIST_PACKAGES := debhelper dpkg-dev python3 lintian binutils xz-utils
BROWSER_PACKAGES := $(BUILD_PACKAGES) python3 python3-venv nodejs node-typescript chromium cage xwayland zbar-tools poppler-utils fonts-noto-core fonts-noto-cjk
# What a payment service is made of on one machine: PostgreSQL, haproxy, a token.
ESTATE_PACKAGES := $(BUILD_PACKAGES) $(SWITCH_PACKAGES) postgresql-15 haproxy softhsm2 opensc openssl procps python3 python3-venv curl

# What a first look needs and no more: no debugger, no index for an editor, each module compiled in one go.
DEMO_FLAGS := --scratch-path .build-demo --disable-index-store -debug-info-format none \
	-Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 2
# One executable under these names, see docs/internals/decisions/0010; libnfc's worker is a program of its own.
PROGRAMS := nfc-tapd nfc-tap nfc-tap-psp-sandbox nfc-tap-ecr nfc-tap-gateway nfc-tap-hub nfc-tap-remote
RELEASE_FLAGS = $(shell scripts/release-flags.sh)
# libpq is there as a shared library of Debian's.
SWITCH_RELEASE_FLAGS := -c release --static-swift-stdlib --disable-local-rpath
PREFIX ?= /usr/local
DESTDIR ?=

.PHONY: help demo till kiosk demo-switch deb switch-deb install release build test \
	lint format docs pictures bless python-client typescript-client clean check-contract \
	check-examples check-protocol check-till check-units check-udev check-licence check-rules check-threads check-addresses \
	check-instructions counted repeat check-browser check-package check-guest check-secrets check-kills check-power check-books check-deaths \
	check-hub check-ocpp check-remote check-tills check-wobbles check-switch check-switch-secrets estate fuzz soak simulate simulate-operations \
	put-back bench bench-peers bench-switch load dist check-dist

# Before any package is installed: what cannot be built without is said first. These need no toolchain.
WITHOUT_SWIFT := help check-licence check-rules check-units check-udev python-client typescript-client
ifneq ($(filter-out $(WITHOUT_SWIFT),$(or $(MAKECMDGOALS),help)),)
ifeq ($(shell command -v $(SWIFT) 2>/dev/null),)
$(error $(SWIFT) is not in PATH. Install a Swift 6.3 toolchain as https://www.swift.org/install/linux/ says, and put its usr/bin into PATH)
endif
endif

help:
	@awk '/^##@ / { printf "\n%s\n", substr($$0, 5) } /^## / { text = substr($$0, 4) } \
		/^[a-z-]+:/ && text != "" { printf "  make %-22s %s\n", substr($$1, 1, length($$1) - 1), text; text = "" }' $(MAKEFILE_LIST)

##@ Try it

## Take one test payment, from card to answer; no reader needed
demo:
	@scripts/install-packages.sh $(DEMO_PACKAGES)
	@echo "Building (the first time takes some minutes)"
	@scripts/build.sh $(DEMO_FLAGS) --target Programs
	@scripts/demo.sh .build-demo/debug
	@echo "== next, in your browser: make till opens a till, a customer display and virtual cards at http://127.0.0.1:8718/"

# Till and display in the browser of this machine, with virtual cards on buttons, until Ctrl-C. Built as `make demo` does.
## Open a till and a customer display in the browser
till:
	@scripts/install-packages.sh $(DEMO_PACKAGES) python3
	@scripts/build.sh $(DEMO_FLAGS) --target Programs
	@scripts/till.sh .build-demo/debug

# A lane that stands alone, with the same cards on buttons: each begins a session, which is told of in the shell.
## Open virtual cards before a lane that stands alone
kiosk:
	@scripts/install-packages.sh $(DEMO_PACKAGES) python3
	@scripts/build.sh $(DEMO_FLAGS) --target Programs
	@scripts/till.sh .build-demo/debug kiosk

# A card's payment through till, both proxies with mutual TLS, the switch, a token and the acquirer's host: the path, with its times.
## Take one through a payment service to an acquirer's host, with its times
demo-switch:
	@scripts/install-packages.sh $(ESTATE_PACKAGES)
	@echo "Building (the first time takes some minutes)"
	@scripts/build.sh $(DEMO_FLAGS) --target Programs
	@scripts/build.sh $(DEMO_FLAGS) --target SwitchPrograms
	@Tests/Checks/Estate/demo-switch.py .build-demo/debug

##@ Install it

# A Debian package of static programs, in .build/deb.
## Make the Debian package, in .build/deb
deb: release
	@scripts/install-packages.sh debhelper dpkg-dev python3
	@scripts/make-deb.sh nfc-tap "$$($(SWIFT) build -c release --show-bin-path)" .build/deb

# The package of the payment service's programs, in .build/deb.
## Make the payment service's Debian package, in .build/deb
switch-deb:
	@scripts/install-packages.sh debhelper dpkg-dev python3 $(ESTATE_PACKAGES)
	$(SWIFT) build $(SWITCH_RELEASE_FLAGS) --target SwitchPrograms
	@scripts/make-deb.sh nfc-tap-switch "$$($(SWIFT) build -c release --show-bin-path)" .build/deb

## Build release programs and install them under PREFIX
install: release
	scripts/install.sh "$(DESTDIR)" "$(PREFIX)" "$$($(SWIFT) build -c release --show-bin-path)"

## Build release programs
release:
	@scripts/install-packages.sh $(BUILD_PACKAGES)
	@scripts/build.sh $(RELEASE_FLAGS) --target Programs
	@scripts/link-programs.sh "$$($(SWIFT) build -c release --show-bin-path)" $(PROGRAMS)

##@ Change it

## Build everything
build:
	@scripts/install-packages.sh $(BUILD_PACKAGES) $(SWITCH_PACKAGES)
	$(SWIFT) build

# Builds everything once, warnings being errors, then runs every test, the ones that need a private pcscd included.
## Build and run all tests
test:
	@scripts/install-packages.sh $(TEST_PACKAGES)
	@scripts/test.sh

## Check the format
lint:
	$(SWIFT) format lint --strict -r Sources Tests Benchmarks Fuzz Package.swift

## Format all sources
format:
	$(SWIFT) format --in-place -r Sources Tests Benchmarks Fuzz Package.swift

# Pages of the public Swift libraries, in .build/docs, a folder for each.
## Make the pages of the Swift libraries, in .build/docs
docs:
	$(SWIFT) build
	@scripts/make-docs.sh "$$($(SWIFT) build --show-bin-path)" .build/docs

## Make the pictures of till and display anew
pictures:
	@scripts/install-packages.sh $(BROWSER_PACKAGES)
	@scripts/make-pictures.sh "$$($(SWIFT) build --show-bin-path)"

# Rewrites the golden texts of the recorded transcripts. Look at what changed before you commit it.
## Write the golden texts of recorded taps anew
bless:
	NFC_TAP_BLESS=1 $(SWIFT) test --filter ExplainTests

# The Python client, made from the contract, and a wheel of it, in .build/clients/python.
## Make the Python client, in .build/clients/python
python-client:
	@scripts/install-packages.sh python3 python3-venv
	@clients/make-python-client.sh "$$(scripts/install-peers.sh)" .build/clients/python

# The TypeScript client, made from the contract and compiled, in .build/clients/typescript.
## Make the TypeScript client, in .build/clients/typescript
typescript-client:
	@scripts/install-packages.sh python3 python3-venv node-typescript
	@clients/make-typescript-client.sh "$$(scripts/install-peers.sh)" .build/clients/typescript

## Remove what was built
clean:
	$(SWIFT) package clean

##@ Check what .ci/run checks

# The daemon that was built, held against docs/openapi.yaml.
## Hold the daemon against docs/openapi.yaml
check-contract:
	@scripts/install-packages.sh $(TEST_PACKAGES)
	@Tests/Contract/check-contract.sh "$$($(SWIFT) build --show-bin-path)"

# The adapter and the POS client that the docs print, run as printed.
## Run the programs of docs/examples
check-examples:
	@scripts/install-packages.sh $(TEST_PACKAGES)
	@Tests/Checks/check-examples.sh "$$($(SWIFT) build --show-bin-path)"

# The commands that docs/integrating/protocol.md prints, and their answers. With BLESS=--write the answers are written anew.
## Run the commands of docs/integrating/protocol.md
check-protocol:
	@scripts/install-packages.sh curl jq python3
	@Tests/Contract/check-protocol.sh "$$($(SWIFT) build --show-bin-path)" $(BLESS)

# The pages of share/till: their machine of a sale, amounts, and every message file, under node.
## Run the tests of till and display under node
check-till:
	@Tests/Till/check-till.sh

## Check the systemd units
check-units:
	@Tests/Checks/check-units.sh

## Check the udev rules
check-udev:
	@Tests/Checks/check-udev.sh

# The licence's line in every source file (Tests/Checks/check-licence.sh --fix puts it there), and everything that is linked in NOTICE.
## Find files without the licence's line
check-licence:
	@Tests/Checks/check-licence.sh

# Each rule of docs/internals/conformance.md leads to a line and to the tests that it names.
## Follow each rule of docs/internals/conformance.md to its line and tests
check-rules:
	@scripts/install-packages.sh python3
	@scripts/find-rule.py --all

# Data races in the daemon, its journal and the readers.
## Find data races
check-threads:
	@scripts/install-packages.sh $(TEST_PACKAGES)
	@Tests/Checks/check-threads.sh

# Memory errors: each fuzz target for a minute under the address sanitizer.
## Find memory errors with the fuzz targets
check-addresses:
	@scripts/fuzz.sh -1 -max_total_time=$(or $(SECONDS),60)

# Instructions of the hot paths against Benchmarks/instructions.tsv; with BLESS=--write that table is written anew. With DEBUG=1 those of the
# tests' programs, as .ci/run builds and counts them.
## Count the instructions of the hot paths
check-instructions: $(if $(DEBUG),,counted)
	@scripts/install-packages.sh $(BUILD_PACKAGES) binutils valgrind
	@Tests/Checks/check-instructions.sh "$$($(SWIFT) build -c $(if $(DEBUG),debug,release) --show-bin-path)/tap-bench" $(BLESS)

# The programs whose instructions are counted.
counted:
	@scripts/install-packages.sh $(BUILD_PACKAGES)
	$(SWIFT) build $(RELEASE_FLAGS) --product tap-bench 2>&1 | tail -n 20
	$(SWIFT) build $(RELEASE_FLAGS) --product nfc-tap-psp-sandbox 2>&1 | tail -n 20
	$(SWIFT) build $(RELEASE_FLAGS) --product nfc-tapd 2>&1 | tail -n 20

##@ Check more, by hand

# The suites of daemon, journal, readers and end to end COUNT times in a row; it ends with the first that fails.
## Run daemon, journal and reader suites COUNT times
repeat:
	@scripts/install-packages.sh $(TEST_PACKAGES)
	@scripts/build.sh --build-tests
	@for round in $$(seq $(or $(COUNT),20)); do \
		echo "round $$round"; \
		NFC_TAP_BIN=$$($(SWIFT) build --show-bin-path) scripts/test.sh TapDaemonTests JournalTests ReaderPCSCTests \
			ReaderNFCTests ReaderVirtualTests ReaderCoreTests EndToEndTests; \
	done

# Till and display in Chromium with a daemon in test mode: security, every requirement, deaths, looks. With FAULTS=1 instead: each
# deliberate fault of the pages is found.
## Drive till and display in Chromium
check-browser:
	@scripts/install-packages.sh $(BROWSER_PACKAGES)
	@scripts/build.sh
	@FAULTS=$(FAULTS) Tests/Browser/check-browser.sh "$$($(SWIFT) build --show-bin-path)"

# The package's whole life in a copy of this machine: install, tap, upgrade, remove, purge. Then both packages in a clean Debian 12 and 13.
## Install, use, upgrade and purge the packages in Debian 12 and 13
check-package: release
	@scripts/install-packages.sh $(SWITCH_PACKAGES)
	@scripts/build.sh $(RELEASE_FLAGS) --target SwitchPrograms
	@Tests/Checks/check-package.sh "$$($(SWIFT) build -c release --show-bin-path)"

# Rules, units and hot-plug in a guest with USB. Ends with an error where it cannot run.
## Plug a reader into a virtual machine
check-guest: release
	@Tests/Checks/check-guest.sh "$$($(SWIFT) build -c release --show-bin-path)"

# The daemon's memory, files, logs and sockets after TAPS taps; as root, for the daemon's memory is closed to everybody else.
## Search the daemon's memory after a thousand taps; as root
check-secrets:
	@[ "$$(id -u)" -eq 0 ] || { echo "check-secrets: run it as root: nobody else may read the daemon's memory"; exit 77; }
	@scripts/install-packages.sh $(TEST_PACKAGES)
	@scripts/build.sh --build-tests
	@NFC_TAP_TAPS=$(or $(TAPS),1000) $(SWIFT) test --skip-build --no-parallel --filter '^EndToEndTests\.SecretScanTests' 2>&1 | \
		grep -E '^scan-secrets|^✘|^✔|^↳|Test run with'

# Three hundred deaths of the daemon, at writes to its journal and at any other moment.
## Kill the daemon KILLS times
check-kills:
	@scripts/install-packages.sh $(TEST_PACKAGES)
	$(SWIFT) build --build-tests
	NFC_TAP_KILLS=$(or $(KILLS),300) $(SWIFT) test --skip-build --no-parallel --filter '^TapDaemonTests\.(Queue)?KillTests'

# Power cuts on a model of the disk: COUNT images a day, DAYS days with MORE sales each, held against what was told and what the payment
# service has booked. FAULTS=1: no cuts, but errors at each write and sync, and bits that flip. STAGES=1: a purge, a copy made and
# put back, new books, terms and tills, each cut off. SYNCS=1: the syncs of each function of the sources left out in turn, as a table.
# VOLUMES=1: COUNT cuts on each of ext4, xfs and btrfs, on loop devices; needs root, xfsprogs and btrfs-progs.
## Cut the power at COUNT moments of a recorded day
check-power:
	@scripts/install-packages.sh $(TEST_PACKAGES)
	@scripts/build.sh --target Programs
	@scripts/build.sh --product rig-books
	Tests/Checks/check-power.py "$$($(SWIFT) build --show-bin-path)" --count $(or $(COUNT),1000) --seed $(or $(SEED),1) --days $(or $(DAYS),1) \
		--more $(or $(MORE),0) $(foreach kind,FAULTS STAGES SYNCS PLANTS VOLUMES,$(if $($(kind)),--$(shell echo $(kind) | tr A-Z a-z)))

# Shops with daemons of their own whose payment services lie and whose daemons are killed: COUNT sales, held against what the
# payment services have booked, in DAYS from a SEED on. What make test does with a thousand. Before them SEQUENCES of operations
# against the model ledger, without I/O.
## Compare COUNT sales with lying payment services' books
check-books:
	@scripts/install-packages.sh $(TEST_PACKAGES)
	$(SWIFT) build $(RELEASE_FLAGS) --product nfc-tapd
	$(SWIFT) build $(RELEASE_FLAGS) --product tap-simulation
	"$$($(SWIFT) build -c release --show-bin-path)/tap-simulation" operations $(or $(SEQUENCES),100000)
	Tests/Checks/Books/check-books.py "$$($(SWIFT) build -c release --show-bin-path)" --count $(or $(COUNT),100000) --days $(or $(DAYS),10) \
		--shops 8 --seed $(or $(SEED),1)
	Tests/Checks/Books/check-books.py "$$($(SWIFT) build -c release --show-bin-path)" --operations --count $(or $(OPERATIONS),12000) \
		--days $(or $(DAYS),10) --kills $$(($(or $(OPERATIONS),12000) / 6)) --shops 8 --seed $(or $(SEED),1)

# The same with KILLS deaths, half of the payments stored, and a wall clock that is put back and ahead.
## The same with KILLS deaths and a clock that jumps
check-deaths:
	@scripts/install-packages.sh $(TEST_PACKAGES)
	$(SWIFT) build $(RELEASE_FLAGS) --product nfc-tapd
	Tests/Checks/Books/check-books.py "$$($(SWIFT) build -c release --show-bin-path)" --count $$(($(or $(KILLS),520) * 8)) --kills $(or $(KILLS),520) \
		--clocks --away 3 --seed $(or $(SEED),1)

# Tills of four protocols in front of nfc-tap-ecr: KILLS deaths of bridge, daemon and till for each, held against the sandbox's books.
## Kill bridge, daemon and till KILLS times for each protocol
check-tills:
	@scripts/install-packages.sh $(TEST_PACKAGES)
	@scripts/build.sh --target Programs
	Tests/Checks/check-tills.py "$$($(SWIFT) build --show-bin-path)" "$$(scripts/install-peers.sh)" --kills $(or $(KILLS),200) --seed $(or $(SEED),1)

# Cards in front of nfc-tap-hub, which is killed KILLS times with its broker; mosquitto, paho-mqtt and standardwebhooks say what arrived, and
# every file is searched for what must not leave. With TAPS=10000 KILLS=0 so many taps and how long they take, with STANDING=1 on a lane
# that stands alone, and with HOUSE=…/bin/hass TAPS=1000 before Home Assistant (Tests/Checks/house.py says how it is installed).
## Kill the hub and its broker KILLS times
check-hub:
	@scripts/install-packages.sh $(TEST_PACKAGES) mosquitto
	@scripts/build.sh --target Programs
	Tests/Checks/check-hub.py "$$($(SWIFT) build --show-bin-path)" "$$(scripts/install-peers.sh hub)" --kills $(or $(KILLS),200) --seed $(or $(SEED),1) \
		--taps $(or $(TAPS),12) $(if $(STANDING),--standing) $(if $(HOUSE),--house $(HOUSE))

# The charging point of docs/examples between a lane that stands alone and the central system of PyPI's ocpp: it is killed KILLS times.
## Kill a charging point KILLS times, and compare what it settled
check-ocpp:
	@scripts/install-packages.sh $(TEST_PACKAGES)
	@scripts/build.sh --target Programs
	Tests/Checks/check-ocpp.py "$$($(SWIFT) build --show-bin-path)" "$$(scripts/install-peers.sh ocpp)" --kills $(or $(KILLS),100) --seed $(or $(SEED),1)

# A backend of 60 lines, haproxy, the bridge and the daemon: first payment, cut line, late answer, a killed bridge, card data in no result.
# With PAYMENTS=100 the times of as many are taken. FORGED=10000 sends orders of a stranger's key. With DEATHS=500 as many runs before a backend of another hand, in which bridge, daemon and backend die, and then the books are compared.
## Order payments from a backend over a line that fails
check-remote:
	@scripts/install-packages.sh $(TEST_PACKAGES) haproxy
	@scripts/build.sh --target Programs
	Tests/Checks/Remote/check-remote.py "$$($(SWIFT) build --show-bin-path)" "$$(scripts/install-peers.sh)" --orders $(or $(COUNT),40) --seed $(or $(SEED),1) --payments $(or $(PAYMENTS),0) --deaths $(or $(DEATHS),0) --forged $(or $(FORGED),0)

# Every fault of a reader at every command of a payment and a pass, on each of the three readers; COUNT torn, mute and repeated
# presentations at random, single and with passes, on the virtual reader, and as far as a thousand on the others; as far as a thousand at
# the edge of the field, and as many tags, through libnfc and through pcscd; COUNT sales in virtual time. Then COUNT sales with one to
# three faults at random, from SEED on, in SHARDS processes at a time (one for each processor). ONLY=WobbleAtTheEdge runs tests of that
# name alone; a hundred thousand in virtual time: ONLY=WobbleInVirtualTime COUNT=100000.
## Fail the readers in every way, then COUNT times at random
check-wobbles:
	@scripts/install-packages.sh $(TEST_PACKAGES)
	$(SWIFT) build --build-tests
	NFC_TAP_BIN="$$($(SWIFT) build --show-bin-path)" Tests/Checks/check-wobbles.sh $(or $(COUNT),1000) $(or $(SEED),1) $(or $(SHARDS),$$(nproc)) '$(or $(ONLY),Wobble)'

# COUNT payments through replicas of the switch that are killed, with their database, and an acquirer that lies; as many before a host of another
# hand, by SEED, whose book is held against the switch's, without and with codes of messages and TLS; the drill of a restore; and the
# certificate test before that host: docs/service/payment-service.md.
## Kill the payment service during COUNT payments before two hosts; restore it
check-switch:
	@scripts/install-packages.sh $(TEST_PACKAGES) $(ESTATE_PACKAGES)
	$(SWIFT) build --build-tests
	NFC_TAP_SWITCH_PAYMENTS=$(or $(COUNT),1000) NFC_TAP_PYTHON=$$(scripts/install-peers.sh) \
		$(SWIFT) test --skip-build --no-parallel --filter '^SwitchTests\.KillTests'
	Tests/Checks/Estate/check-switch.py "$$($(SWIFT) build --show-bin-path)" --taps $(or $(COUNT),1000) --seed $(or $(SEED),1)
	for mac in cmac retail; do NFC_TAP_PYTHON=$$(scripts/install-peers.sh) Tests/Checks/Estate/check-switch.py \
		"$$($(SWIFT) build --show-bin-path)" --mac $$mac --tls --taps $(or $(COUNT),1000) --seed $(or $(SEED),1); done
	Tests/Checks/Estate/drill-restore.py "$$($(SWIFT) build --show-bin-path)" --seed $(or $(SEED),1)
	Tests/Checks/Estate/host-test.py "$$($(SWIFT) build --show-bin-path)" --second-host

# The replicas' memory, logs, database and write-ahead log after TAPS payments; as root.
## Search the payment service's memory, logs and database; as root
check-switch-secrets:
	@scripts/install-packages.sh $(ESTATE_PACKAGES)
	$(SWIFT) build $(SWITCH_RELEASE_FLAGS) --target SwitchPrograms
	Tests/Checks/Estate/check-switch-secrets.py "$$($(SWIFT) build -c release --show-bin-path)" --taps $(or $(TAPS),1000)

# A payment service with its standby on this machine, TILLS tills and TAPS taps before it, and deaths of everything: docs/service/estate.md.
## Run many tills before a payment service in which all parts die
estate:
	@scripts/install-packages.sh $(ESTATE_PACKAGES)
	$(SWIFT) build $(SWITCH_RELEASE_FLAGS) --target SwitchPrograms
	Tests/Checks/Estate/check-estate.py "$$($(SWIFT) build -c release --show-bin-path)" --tills $(or $(TILLS),1000) --taps $(or $(TAPS),100000) \
		--kills $(or $(KILLS),200) --fail-overs $(or $(FAIL_OVERS),10) --every $(or $(EVERY),4) --pause $(or $(PAUSE),0) \
		--seconds $(or $(SECONDS),3000) --seed $(or $(SEED),1)

## Run the fuzz targets a million times each
fuzz:
	@scripts/fuzz.sh 1000000

# Hours of taps: memory and descriptors stay flat, and every tap is in the books.
## Tap for hours and watch memory and descriptors
soak:
	@scripts/install-packages.sh $(TEST_PACKAGES)
	@Tests/Checks/Soak/soak.sh

# COUNT transactions in shops where everything that can lie lies, held against the payment services' books; or the story of
# one SEED.
## Simulate COUNT transactions in shops where everything lies
simulate:
	$(SWIFT) build -c release --product tap-simulation
	"$$($(SWIFT) build -c release --show-bin-path)/tap-simulation" $(or $(COUNT),10000000) $(SEED)

# COUNT sequences of captures, adjustments, releases and refunds against a model ledger, without I/O; or the story of one SEED.
## Simulate COUNT sequences of captures and refunds
simulate-operations:
	$(SWIFT) build -c release --product tap-simulation
	"$$($(SWIFT) build -c release --show-bin-path)/tap-simulation" operations $(or $(COUNT),1000000) $(SEED)

# How soon the simulation finds each mend that is undone: the table of docs/internals/measurements.md.
## Undo each mend and say how soon the simulation finds it
put-back:
	$(SWIFT) build -c release --product tap-simulation
	"$$($(SWIFT) build -c release --show-bin-path)/tap-simulation" put-back

##@ Measure it

# Every figure beside a yardstick of the same run.
## Print each figure beside a yardstick of the same run
bench:
	@scripts/install-packages.sh $(TEST_PACKAGES) libssl3 binutils valgrind
	@scripts/bench.sh

# Instructions of our hot paths, and of what Debian's and PyPI's libraries do of the same, in one run.
## Count instructions beside the libraries of Debian and PyPI
bench-peers:
	@scripts/install-packages.sh $(BUILD_PACKAGES) binutils gcc libc6-dev libmbedtls-dev libssl-dev python3 python3-venv valgrind
	$(SWIFT) build $(RELEASE_FLAGS) --product tap-bench 2>&1 | tail -n 20
	@scripts/bench-peers.sh "$$($(SWIFT) build -c release --show-bin-path)/tap-bench"

# Payments a second through the switch, beside plain inserts of the same rows.
## Measure the payment service beside plain inserts
bench-switch:
	@scripts/install-packages.sh $(ESTATE_PACKAGES)
	$(SWIFT) build $(SWITCH_RELEASE_FLAGS) --target SwitchPrograms
	Tests/Checks/Estate/bench-switch.py "$$($(SWIFT) build -c release --show-bin-path)"

# 1, 8 and 64 lanes tapping as fast as they can for SECONDS.
## Tap on 1, 8 and 64 lanes for SECONDS
load:
	@scripts/install-packages.sh $(TEST_PACKAGES)
	@SECONDS_OF_LOAD=$(or $(SECONDS),60) scripts/bench.sh load

##@ Release it

# A release in .build/dist: package, sources, changes, what it was made with (.buildinfo), what is inside (.spdx.json), and their sums
# signed with the key that NFC_TAP_SIGNING_KEY names.
## Make a signed release, in .build/dist
dist:
	@scripts/install-packages.sh $(DIST_PACKAGES) gpg
	@scripts/make-dist.sh --ready
	@$(MAKE) --no-print-directory release
	@scripts/make-dist.sh "$$($(SWIFT) build -c release --show-bin-path)" .build/dist

# Twice in clean clones, with a key for the occasion: the bytes are the same, what is signed verifies, what has been changed does not.
# With REBUILD=1 the second clone builds the programs anew.
## Make one twice, compare the bytes and verify it
check-dist: release
	@scripts/install-packages.sh $(DIST_PACKAGES) gpg gpg-agent python3-venv
	@Tests/Checks/check-dist.sh "$$($(SWIFT) build -c release --show-bin-path)"
