#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The package through its life: check-package.sh [FOLDER-WITH-RELEASE-PROGRAMS]. Builds it twice, asks lintian, then boots a
# systemd in a copy of this machine's file system (nothing is changed here) and installs, taps on a virtual reader,
# upgrades while a sale is running, while a reversal waits and while a stored sale waits, removes, and purges. Then it makes a
# clean Debian 12 and a clean Debian 13 from the archive that apt has here, and in each opens till and display and sells. Says
# clearly what could not be done.
#
#   NFC_TAP_SUITES="trixie"   other Debians than bookworm and trixie; with NFC_TAP_ONLY_CLEAN=1 nothing but these
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "check-package: $*"; }

if [ "${1:-}" != inside ] && [ "${1:-}" != clean ]; then
    bin=${1:-}
    if [ -z "$bin" ]; then
        make release
        bin=$(swift build -c release --show-bin-path)
    fi
    bin=$(realpath "$bin")
    scripts/install-packages.sh debhelper dpkg-dev lintian python3 acl libnfc6 libpcsclite1 curl
    packages=$(mktemp -d)
    trap 'rm -rf "$packages"' EXIT
    version=$(. scripts/lib.sh && product_version)
    first=$(scripts/make-deb.sh "$bin" "$packages/1")
    second=$(scripts/make-deb.sh "$bin" "$packages/2" "$version+upgrade1")
    say "built $(basename "$first"), $(stat -c %s "$first") bytes"

    lintian --allow-root --fail-on error,warning --suppress-tags debian-changelog-has-wrong-day-of-week "$first"
    say "lintian has nothing to say"
    # A shop's machine has no Swift toolchain.
    mkdir "$packages/files"
    dpkg-deb -x "$first" "$packages/files"
    if ldd "$packages/files"/usr/bin/nfc-tap* "$packages/files"/usr/libexec/nfc-tap/* | grep -iE "libswift|libFoundation|libdispatch"; then
        say "a program needs the Swift runtime's libraries" >&2
        exit 1
    fi
    say "no program needs a Swift toolchain"
    if ldd "$packages/files"/usr/bin/nfc-tap* | grep -E "libnfc|libusb"; then
        say "a program beside the worker loads libnfc" >&2
        exit 1
    fi
    say "libnfc's worker alone loads libnfc"

    [ "$(id -u)" -eq 0 ] || {
        say "NOT CHECKED: installing, upgrading and removing need root"
        exit 0
    }
    unshare --mount true 2>/dev/null || {
        say "NOT CHECKED: mount namespaces are not allowed here, so nothing was installed"
        exit 0
    }
    scripts/install-packages.sh systemd-container debootstrap
    [ -n "${NFC_TAP_ONLY_CLEAN:-}" ] || unshare --mount --propagation private "$0" inside "$first" "$second"
    for suite in ${NFC_TAP_SUITES:-bookworm trixie}; do
        unshare --mount --propagation private "$0" clean "$first" "$suite" "$(paste -s -d ' ' "$bin/nfc-tap-programs.names")"
    done
    exit
fi

mode=$1
first=$2
second=$3
tree=$(mktemp -d)
root=$tree/root
if [ "$mode" = clean ]; then
    suite=$3
    # What a fresh machine has, from wherever apt of this machine has it. The folder is on the disk: it is half a gigabyte.
    mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' |
        awk -v codename="$(. /etc/os-release && echo "$VERSION_CODENAME")" '$2 == codename { print $1; exit }')
    trap 'rm -rf "$tree"' EXIT
    debootstrap --variant=minbase --include=systemd-sysv,dbus "$suite" "$root" "$mirror" >"$tree/log" 2>&1 || {
        say "NOT CHECKED: Debian $suite cannot be made here: $(tail -n 1 "$tree/log")"
        exit 0
    }
    mkdir "$root/srv/packages"
    cp "$first" "$root/srv/packages/first.deb"
    # apt brings what the package wants, into a system that runs nothing and has no /proc, as an image builder does.
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
    chmod 0755 "$root/usr/sbin/policy-rc.d"
    umount "$root/proc" 2>/dev/null || true
    {
        chroot "$root" apt-get update
        chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
            /srv/packages/first.deb pcscd libccid vsmartcard-vpcd curl
        ! chroot "$root" sh -c 'ldd /usr/sbin/pcscd' | grep -q polkit ||
            chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends polkitd
    } >"$tree/log" 2>&1 || {
        say "FAILED: the package cannot be installed on Debian $suite: $(tail -n 3 "$tree/log")" >&2
        exit 1
    }
    for program in $4; do
        said=$(chroot "$root" "/usr/bin/$program" --help 2>&1) && status=0 || status=$?
        [ "$status" = 69 ] && [[ "$said" = "$program: /proc is not mounted"* ]] || {
            say "FAILED: without /proc $program ends with $status: $said" >&2
            exit 1
        }
    done
    say "$suite: without /proc no program starts, by none of its names: $4"
    chroot "$root" dpkg --purge nfc-tap >"$tree/log" 2>&1 || {
        say "FAILED: the package cannot be purged where nothing ran: $(tail -n 3 "$tree/log")" >&2
        exit 1
    }
else
    mount -t tmpfs tmpfs "$tree"
    mkdir "$tree/upper" "$tree/work" "$root"
    mount -t overlay overlay -o "lowerdir=/,upperdir=$tree/upper,workdir=$tree/work" "$root" || {
        say "NOT CHECKED: overlay file systems are not allowed here, so nothing was installed"
        exit 0
    }
    mkdir -p "$root/srv/packages"
    cp "$first" "$root/srv/packages/first.deb"
    cp "$second" "$root/srv/packages/second.deb"
fi
# systemd-nspawn keeps its own things under /run, which has to be a file system in memory.
mount -t tmpfs tmpfs /run
truncate --size=0 "$root/etc/machine-id"
# Containers mostly forbid services to start with their installation: here that is what is to be seen.
rm -f "$root/usr/sbin/policy-rc.d"
cat >"$root/etc/systemd/system/tap.target" <<'UNIT'
[Unit]
Requires=basic.target
After=basic.target
AllowIsolate=yes
UNIT

systemd-nspawn --directory="$root" --machine=nfc-tap-check --register=no --keep-unit --private-network --console=pipe \
    --boot systemd.unit=tap.target </dev/null >"$tree/console" 2>&1 &
nspawn=$!
leader=
stop() {
    [ -z "$leader" ] || inside systemctl poweroff >/dev/null 2>&1 || true
    for _ in $(seq 50); do
        kill -0 "$nspawn" 2>/dev/null || break
        sleep 0.1
    done
    kill -KILL "$nspawn" 2>/dev/null || true
    wait "$nspawn" 2>/dev/null || true
    umount --lazy "$root" "$tree" 2>/dev/null || true
    # A clean Debian's own files; of a copy of this machine nothing is left once it is unmounted.
    [ "$mode" != clean ] || rm -rf "$root"
    rm -rf "$tree/log" "$tree/console" 2>/dev/null || true
    rmdir "$tree" 2>/dev/null || true
}
trap stop EXIT
trap 'say "FAILED in line $LINENO: $BASH_COMMAND" >&2' ERR

inside() { nsenter --target "$leader" --mount --uts --ipc --net --pid --cgroup -- "$@"; }

find_leader() { # the guest's systemd: the one below our nspawn
    local pid
    for pid in $(pgrep -x systemd); do
        local parent=$pid
        while [ "${parent:-0}" -gt 1 ]; do
            if [ "$parent" -eq "$nspawn" ]; then
                leader=$pid
                return 0
            fi
            parent=$(awk '/^PPid:/ { print $2 }' "/proc/$parent/status" 2>/dev/null || echo 0)
        done
    done
    return 1
}

await() { # SECONDS WHAT COMMAND...
    local tries=$(($1 * 10)) what=$2
    shift 2
    for _ in $(seq "$tries"); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.1
    done
    say "FAILED: $what" >&2
    if [ -n "$leader" ]; then
        inside systemctl --no-pager status nfc-tapd.service nfc-tapd.socket nfc-tap-psp-sandbox.service 2>&1 | tail -n 40 >&2 || true
        inside journalctl --no-pager --unit=nfc-tapd --lines=30 >&2 || true
    fi
    exit 1
}

booted() { find_leader && inside systemctl is-active --quiet tap.target; }
for _ in $(seq 150); do
    booted 2>/dev/null && break
    kill -0 "$nspawn" 2>/dev/null || break
    sleep 0.1
done
booted || {
    say "NOT CHECKED: no systemd boots here, so nothing was installed; its console said:"
    tail -n 20 "$tree/console"
    leader=
    exit 0
}
where="a copy of this machine"
[ "$mode" != clean ] || where="a clean Debian $(cat "$root/etc/debian_version")"
say "systemd $(inside systemctl --version | awk 'NR == 1 { print $2 }') runs in $where"

sock=/run/nfc-tap/pos.sock
reader=/var/lib/nfc-tap/reader.sock
get() { inside curl --silent --unix-socket "$sock" "http://localhost$1" | tr -d "\n"; }
value() { # KEY: that member of a JSON object
    python3 -c 'import json, sys; print(json.load(sys.stdin).get(sys.argv[1], ""))' "$1"
}
active() { inside systemctl is-active --quiet "$1"; }
nothing_else_runs() { # the unit's own words for what it refuses, and that it works with them
    [ "$(inside systemctl show --property=StartLimitIntervalUSec --value nfc-tapd.service)" = 0 ] &&
        [ "$(inside systemctl show --property=OOMScoreAdjust --value nfc-tapd.service)" = -500 ]
}
present() { inside nfc-tap virtual --control "$reader" present visa; }
lift() { inside nfc-tap virtual --control "$reader" remove; }
ready() { [ "$(get /v1/status | value ready)" = True ]; }

# --- install
inside dpkg --install /srv/packages/first.deb >"$tree/dpkg" 2>&1 || {
    cat "$tree/dpkg" >&2
    exit 1
}
await 10 "the daemon does not run after the installation" active nfc-tapd.service
active nfc-tapd.socket
nothing_else_runs || {
    say "FAILED: the unit may stop for ever, or is the first to be ended" >&2
    exit 1
}
inside id nfc-tapd >/dev/null
[ "$(inside stat -c '%U:%G %a' "$sock")" = "root:nfc-tap 660" ] || {
    say "FAILED: the socket has $(inside stat -c '%U:%G %a' "$sock")" >&2
    exit 1
}
inside systemctl is-enabled --quiet nfc-tapd.service nfc-tapd.socket
! inside systemctl is-enabled --quiet nfc-tap-psp-sandbox.service
say "installed: the daemon runs, the sandbox does not"

# --- till and display, as a browser asks for them, and a sale of that till: the gateway as its units start it
call() { # METHOD PATH [BODY [TOKEN [KEY]]]
    inside curl --silent --fail-with-body --max-time 60 -X "$1" ${3:+-H "Content-Type: application/json" -d "$3"} \
        ${4:+-H "Authorization: Bearer $4"} ${5:+-H "Idempotency-Key: $5"} "http://127.0.0.1:8716$2"
}
sell_in_the_browser() {
    inside systemctl start nfc-tap-psp-sandbox.service nfc-tap-gateway.socket nfc-tap-gateway.service
    await 10 "the gateway does not run" active nfc-tap-gateway.service
    local page link file pages=0 code token sale state
    for page in till display; do
        inside curl --silent --fail "http://127.0.0.1:8716/$page/" >"$tree/page" || {
            say "FAILED: /$page/ cannot be opened" >&2
            exit 1
        }
        # All that the page loads is there too.
        for link in $(grep -oE '(src|href)="/[^"#:]+"' "$tree/page" | cut -d '"' -f 2); do
            inside curl --silent --fail --output /dev/null "http://127.0.0.1:8716$link" || {
                say "FAILED: /$page/ loads $link, which is not there" >&2
                exit 1
            }
            pages=$((pages + 1))
        done
    done
    for file in $(cd share/till && find . -type f -printf '%P\n'); do
        inside curl --silent --fail "http://127.0.0.1:8716/till/$file" | cmp --silent - "share/till/$file" || {
            say "FAILED: /till/$file is not the file of the sources" >&2
            exit 1
        }
    done
    [ "$pages" -gt 0 ]
    inside nfc-tap-gateway pair --lane main >"$tree/pair"
    code=$(sed -n 's/^Code for till-1: \([^ ]*\) .*/\1/p' "$tree/pair")
    grep -q "^Open http://127.0.0.1:8716/till/#code=$code" "$tree/pair"
    token=$(call POST /v1/pairings "{\"code\":\"$code\"}" | value token)
    [ -n "$token" ]
    inside nfc-tap-gateway pair --lane main --role display >/dev/null
    present >/dev/null
    sale=$(call POST /v1/transactions '{"type":"purchase","amount":{"value":1250,"currency":"EUR"},"order":"T1"}' "$token" till-sale-1 | value id)
    for _ in $(seq 100); do
        state=$(call GET "/v1/transactions/$sale" "" "$token" | value state)
        [ "$state" != approved ] || break
        sleep 0.2
    done
    lift >/dev/null
    [ "$state" = approved ] || {
        say "FAILED: the till's sale is $state" >&2
        exit 1
    }
    ! inside nfc-tap doctor --json | grep -q '"problem" : ".*missing in /usr/share/nfc-tap/till'
    say "till and display open with everything that they load, and a sale of the till is approved"
}

if [ "$mode" = clean ]; then
    pcscd=$(inside dpkg-query --show --showformat '${Version}' pcscd)
    # A reader of pcscd's that is none of USB: the daemon may use pcscd, polkit or not.
    sed -i '/^\[\[lane\]\]/,$d' "$root/etc/nfc-tap/nfc-tapd.toml"
    printf '[[lane]]\nname = "%s"\nreader = "%s"\n' main "virtual:$reader" pcsc "pcsc:Virtual PCD 00 00" \
        >>"$root/etc/nfc-tap/nfc-tapd.toml"
    inside systemctl start nfc-tap-psp-sandbox.service
    inside systemctl restart nfc-tapd.service
    await 20 "the daemon does not take a virtual reader" inside test -S "$reader"
    both_ready() {
        get /v1/status | python3 -c 'import json, sys; sys.exit(any(l["state"] != "ready" for l in json.load(sys.stdin)["lanes"]))'
    }
    await 30 "a lane is not ready, with pcscd $pcscd: $(get /v1/status)" both_ready
    polkit=without
    ! inside ldd /usr/sbin/pcscd | grep -q polkit || polkit=with
    say "pcscd $pcscd, $polkit polkit, lets the daemon in"
    if [ "$polkit" = with ]; then
        # What a program without a session is told, and the daemon would be without its rule.
        inside setpriv --reuid nobody --regid nogroup --clear-groups nfc-tap readers >"$tree/nobody" 2>&1 &&
            status=0 || status=$?
        say "a user without a session: status $status, $(head -n 1 "$tree/nobody")"
    fi
    sell_in_the_browser
    inside systemctl restart pcscd.service
    await 30 "the lane does not come back after pcscd has started anew" both_ready
    say "the lane is ready again after a restart of pcscd"
    inside dpkg --purge nfc-tap >"$tree/dpkg" 2>&1 || {
        say "FAILED: not purged: $(cat "$tree/dpkg")" >&2
        exit 1
    }
    say "installed, used and purged on $where"
    exit
fi

# --- the configuration: the daemon's own list of settings against the file that explains them
for table in "" pos psp journal terminal groups; do
    {
        [ -z "$table" ] || printf '[%s]\n' "$table"
        printf 'no-such-setting = 1\n[[lane]]\nname = "a"\nreader = "pcsc"\n'
    } >"$root/srv/wrong.toml"
    said=$(inside nfc-tapd --config /srv/wrong.toml --runtime-directory /srv/run 2>&1 || true)
    known=$(sed -n 's/.*use one of //p' <<<"$said")
    for key in ${known//,/ }; do
        grep -qE "^(# )?(\[\[?$key\]\]?|$key = )" docs/examples/nfc-tapd.toml || {
            say "FAILED: docs/examples/nfc-tapd.toml does not explain ${table:+$table.}$key" >&2
            exit 1
        }
    done
    [ -n "$known" ] || {
        say "FAILED: the daemon does not list the settings of ${table:-the top}: $said" >&2
        exit 1
    }
done
say "the example configuration has every setting that the daemon knows"

# --- doctor and manuals
inside nfc-tap doctor --json >"$tree/doctor" || [ $? -eq 1 ]
grep -q '"subject" : "adapter"' "$tree/doctor" || {
    say "FAILED: the doctor does not miss the adapter" >&2
    cat "$tree/doctor" >&2
    exit 1
}
inside nfc-tap diagnose /srv/support.tar >/dev/null
for page in nfc-tap.1 nfc-tapd.8 nfc-tapd.conf.5 nfc-tap-psp-sandbox.1; do
    inside sh -c "man --warnings --local-file /usr/share/man/man${page##*.}/$page.gz >/dev/null 2>/srv/man.log"
    [ ! -s "$root/srv/man.log" ] || {
        say "FAILED: $page: $(cat "$root/srv/man.log")" >&2
        exit 1
    }
done
inside bash -n /usr/share/bash-completion/completions/nfc-tap
# Manual and completions are made from the programs: none of their commands may be missing there.
cp packaging/make-manual.py "$root/srv/"
commands=0
while read -r words; do
    last=${words##* }
    inside zgrep -qF ".SS ${words//-/\\-}" /usr/share/man/man1/nfc-tap.1.gz || {
        say "FAILED: nfc-tap.1 does not have \"$words\"" >&2
        exit 1
    }
    for file in bash-completion/completions/nfc-tap zsh/vendor-completions/_nfc-tap fish/vendor_completions.d/nfc-tap.fish; do
        inside grep -qw -- "$last" "/usr/share/$file" || {
            say "FAILED: $file does not have \"$words\"" >&2
            exit 1
        }
    done
    commands=$((commands + 1))
done < <(inside python3 /srv/make-manual.py commands /usr/bin/nfc-tap)
[ "$commands" -gt 0 ]
say "the doctor sees that the adapter is missing; manuals and completions can be read and have all $commands commands"

# --- tap
sed -i "s#^reader = .*#reader = \"virtual:$reader\"#; s#^answer-timeout = .*#answer-timeout = 8#" \
    "$root/etc/nfc-tap/nfc-tapd.toml"
inside systemctl start nfc-tap-psp-sandbox.service
inside systemctl restart nfc-tapd.service
await 10 "the daemon does not take a virtual reader" inside test -S "$reader"
await 10 "the lane is not ready" ready
present >/dev/null
inside nfc-tap pay 12.50 EUR --json >"$tree/paid"
lift >/dev/null
paid=$(value id <"$tree/paid")
say "a tap is approved: $(value state <"$tree/paid")"
say "exposure of the running unit: $(inside systemd-analyze security nfc-tapd.service 2>/dev/null | tail -n 1 | sed 's/.*: //')"

sell_in_the_browser

# --- upgrade while a sale waits for its answer: one amount the sandbox never answers
upgrade() { # PACKAGE: prints the milliseconds that dpkg took
    local started
    started=$(date +%s%N)
    inside dpkg --install "/srv/packages/$1.deb" >"$tree/dpkg" 2>&1 || {
        cat "$tree/dpkg" >&2
        return 1
    }
    echo $((($(date +%s%N) - started) / 1000000))
}
begin() { # starts a sale that is never answered, and waits until it was sent
    local events
    events=$(mktemp -p "$tree")
    inside nfc-tap events --count 20 >"$events" 2>/dev/null &
    present >/dev/null
    inside nfc-tap pay 12.98 EUR --json >"$tree/running" 2>/dev/null &
    client=$!
    await 20 "the sale was not sent" grep -q '"payment.authorizing"' "$events"
    running=$(grep '"payment.authorizing"' "$events" | tail -n 1 | value transaction)
    lift >/dev/null
}
open() { get /v1/status | sed -n 's/.*"reversals":\([0-9]*\).*/\1/p'; }
settled() { [ "$(open)" = 0 ]; }
state() { get "/v1/transactions/$1" | value state; }

begin
took=$(upgrade second)
wait "$client" || true
await 60 "the daemon does not run after the upgrade" active nfc-tapd.service
await 20 "the lane is not ready after the upgrade" ready
[ "$(state "$paid")" = approved ] || {
    say "FAILED: the sale from before the upgrade is $(state "$paid")" >&2
    exit 1
}
case $(state "$running") in
    reversing | reversed | unknown) ;;
    *)
        say "FAILED: the sale that was never answered is $(state "$running")" >&2
        exit 1
        ;;
esac
say "upgraded during a sale in $took ms: that sale is $(state "$running"), the one before still $(state "$paid")"
await 90 "the reversal is not done" settled

# --- upgrade while a reversal waits: the adapter is gone
begin
inside systemctl stop nfc-tap-psp-sandbox.service
wait "$client" || true
waits() { [ "$(open)" = 1 ]; }
await 60 "no reversal waits though the adapter is gone" waits
took=$(upgrade first)
await 60 "the daemon does not run after the second upgrade" active nfc-tapd.service
await 20 "the lane is not ready after the second upgrade" ready
waits || {
    say "FAILED: a reversal was open, after the upgrade there are $(open)" >&2
    exit 1
}
inside systemctl start nfc-tap-psp-sandbox.service
await 150 "the reversal is not done once the adapter is back" settled
say "upgraded in $took ms while a reversal waited: it was done when the adapter came back ($(state "$running"))"

# --- upgrade while a stored sale waits: the adapter is gone, and the card has approved by itself
sed 's/"floor": 0/"floor": 100000/' docs/examples/terminal-test.json >"$root/etc/nfc-tap/terminal.json"
sed -i 's|^# file = "/etc/nfc-tap/terminal.json"|file = "/etc/nfc-tap/terminal.json"|' "$root/etc/nfc-tap/nfc-tapd.toml"
cat >>"$root/etc/nfc-tap/nfc-tapd.toml" <<'TOML'
[offline]
[[offline.currency]]
code = "EUR"
amount = 2000
total = 50000
TOML
inside nfc-tap config check >/dev/null
inside systemctl restart nfc-tapd.service
await 20 "the lane is not ready with [offline]" ready
queued() { get /v1/queue | value count; }
may_store() { ! get /v1/queue | grep -q '"refusal"'; }
await 20 "nothing may be stored: $(get /v1/queue)" may_store
inside systemctl stop nfc-tap-psp-sandbox.service
inside nfc-tap virtual --control "$reader" present visa-afl >/dev/null
inside nfc-tap pay 13.00 EUR --json >"$tree/kept"
lift >/dev/null
kept=$(value id <"$tree/kept")
[ "$(value state <"$tree/kept")" = stored ] && [ "$(queued)" = 1 ] || {
    say "FAILED: without the adapter the sale is $(cat "$tree/kept"), the queue $(get /v1/queue)" >&2
    exit 1
}
took=$(upgrade second)
await 60 "the daemon does not run after the third upgrade" active nfc-tapd.service
await 20 "the lane is not ready after the third upgrade" ready
[ "$(state "$kept")" = stored ] && [ "$(queued)" = 1 ] || {
    say "FAILED: after the upgrade the stored sale is $(state "$kept"), the queue $(get /v1/queue)" >&2
    exit 1
}
inside nfc-tap audit verify >/dev/null
# This one has no memory of the earlier ones: whatever is in its ledger came after the upgrade.
inside systemctl start nfc-tap-psp-sandbox.service
forwarded() { [ "$(state "$kept")" = approved ] && [ "$(queued)" = 0 ]; }
await 60 "the stored sale is not forwarded once the adapter is back" forwarded
# Nothing is sent again, not even by a daemon that starts anew.
inside systemctl restart nfc-tapd.service
await 20 "the lane is not ready again" ready
inside nfc-tap queue flush >/dev/null
inside curl --silent --unix-socket /run/nfc-tap/psp.sock http://localhost/debug/ledger >"$tree/ledger"
python3 - "$kept" "$tree/ledger" <<'PYTHON' || exit 1
import json, sys
entries = json.load(open(sys.argv[2]))["transactions"]
sale = [e for e in entries if e["id"] == sys.argv[1] and e["offline"] and e["state"] == "approved"
        and e["authorised"] == 1300 and e["reversed"] == 0 and e["answered"]]
if len(entries) != 1 or len(sale) != 1:
    sys.exit(f"check-package: FAILED: the ledger does not have the stored sale, and nothing else: {entries}")
PYTHON
inside nfc-tap audit verify >"$tree/audit"
say "upgraded in $took ms while a stored sale waited: forwarded when the adapter came back, once in its ledger"
say "audit verify: $(tail -n 1 "$tree/audit")"

# --- remove, install again, purge
inside dpkg --remove nfc-tap >"$tree/dpkg" 2>&1
! active nfc-tapd.service
! active nfc-tap-psp-sandbox.service
inside test ! -e "$sock"
inside test ! -e /usr/bin/nfc-tapd
inside sh -c 'ls /var/lib/nfc-tap | grep -q .'
say "removed: nothing runs, the journal is kept"
inside dpkg --install /srv/packages/second.deb >"$tree/dpkg" 2>&1
await 10 "the daemon does not run after it was installed again" active nfc-tapd.service
inside nfc-tap status >/dev/null
[ "$(get "/v1/transactions/$paid" | value state)" = approved ]
# A reversal that nobody acknowledges is open money: the journal that knows of it is not purged.
inside systemctl start nfc-tap-psp-sandbox.service
await 20 "the lane is not ready before the purge" ready
begin
inside systemctl stop nfc-tap-psp-sandbox.service
wait "$client" || true
await 60 "no reversal waits before the purge" waits
for attempt in 1 2; do
    if inside dpkg --purge nfc-tap >"$tree/dpkg" 2>&1; then
        say "FAILED: purged while a reversal was open" >&2
        exit 1
    fi
    grep -q "$running" "$tree/dpkg" || {
        say "FAILED: the purge does not say what is open: $(cat "$tree/dpkg")" >&2
        exit 1
    }
    inside test -e /var/lib/nfc-tap/journal.sqlite
done
say "a purge with an open reversal is refused, and names it"
inside touch /var/lib/nfc-tap-package/delete-open-money
inside dpkg --purge nfc-tap >"$tree/dpkg" 2>&1
# A file that the shop put there is the shop's.
[ "$(inside ls -A /etc/nfc-tap)" = terminal.json ] || {
    say "FAILED: purged, and /etc/nfc-tap has $(inside ls -A /etc/nfc-tap)" >&2
    exit 1
}
for left in /var/lib/nfc-tap /run/nfc-tap /usr/share/nfc-tap /lib/systemd/system/nfc-tapd.service \
    /etc/systemd/system/multi-user.target.wants/nfc-tapd.service /lib/udev/rules.d/72-nfc-tap.rules; do
    inside test ! -e "$left" || {
        say "FAILED: purged, and $left is still there" >&2
        exit 1
    }
done
say "purged: nothing is left but the users, the groups, and the file that the shop had put there"
