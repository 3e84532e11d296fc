#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a command beside a pcscd of its own with vpcd's readers, in new mount and network namespaces:
#
#   with-private-pcscd.sh CONFDIR COMMAND [ARGUMENT…]
#
# CONFDIR holds reader stanzas in the format of reader.conf.d and is an absolute path. vpcd's ports are open to the
# command alone. PCSCD_PID is in its environment. Ends with the command's status, or with
#   64  wrong use     69  a program or package is missing     77  namespaces are not permitted here
set -u

fail() {
    echo "with-private-pcscd: $2" >&2
    exit "$1"
}

[ $# -ge 2 ] || fail 64 "usage: with-private-pcscd.sh CONFDIR COMMAND [ARGUMENT…]"
case $1 in
/*) ;;
*) fail 64 "CONFDIR must be an absolute path: $1" ;;
esac
PATH=$PATH:/usr/sbin:/sbin
for program in unshare ip mount pcscd; do
    command -v "$program" >/dev/null || fail 69 "$program is missing: apt-get install pcscd iproute2 util-linux mount"
done
[ -e /usr/lib/pcsc/drivers/serial/libifdvpcd.so ] ||
    fail 69 "the vpcd driver is missing: apt-get install vsmartcard-vpcd"

# Without root the user namespace maps this user to 0, and nobody else: peer credentials cannot be tested there.
if unshare -mn true 2>/dev/null; then
    namespaces=-mn
    run=/run/pcscd
    # The root of a user namespace may not write to the machine's /run, and covers it all.
    mkdir -p /run/pcscd 2>/dev/null || run=/run
elif unshare -Urmn true 2>/dev/null; then
    namespaces=-Urmn
    run=/run
else
    fail 77 "mount and network namespaces are not permitted here; run as root or allow user namespaces"
fi

export WITH_PRIVATE_PCSCD_RUN=$run
exec unshare "$namespaces" sh -c '
    ip link set lo up && mount -t tmpfs tmpfs "$WITH_PRIVATE_PCSCD_RUN" && mkdir -p /run/pcscd || {
        echo "with-private-pcscd: cannot set up the namespaces" >&2
        exit 77
    }
    pcscd -f -c "$0" --error </dev/null &
    export PCSCD_PID=$!
    tries=0
    until [ -S /run/pcscd/pcscd.comm ]; do
        tries=$((tries + 1))
        [ $tries -lt 500 ] && kill -0 $PCSCD_PID 2>/dev/null || {
            echo "with-private-pcscd: pcscd did not start" >&2
            exit 69
        }
        sleep 0.01
    done
    "$@"
    status=$?
    kill $PCSCD_PID 2>/dev/null
    wait $PCSCD_PID 2>/dev/null
    exit $status' "$@"
