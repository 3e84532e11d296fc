#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages (Debian 12): libtpm2-pkcs11-1 1.9.0-0.1+deb12u1, libtpm2-pkcs11-tools, swtpm 0.7.1-1.3 (a TPM in software), opensc (pkcs11-tool)
#
# Guess: a TPM 2.0, which has a command for ECDH (TPM2_ECDH_ZGen), does ECDH by PKCS #11 too, and a token that cannot refuses a key with CKA_DERIVE.
# What happens: an EC key made for derivation is made and says "derive" of itself, and can sign only: C_DeriveKey is not supported
# and no mechanism derives. What was sealed to that key by ECDH-ES is never opened. An RSA key with OAEP opens.
#
# Seen:
# > mechanisms: 33, to derive: 0
# > an EC key made for derivation: Usage: sign, derive
# > ECDH with it: C_DeriveKey failed: rv = CKR_FUNCTION_NOT_SUPPORTED
# > RSA-OAEP with SHA-256: 4111
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    openssl opensc swtpm=0.7.1-1.3 libtss2-tcti-swtpm0 tpm2-tools libtpm2-pkcs11-1=1.9.0-0.1+deb12u1 libtpm2-pkcs11-tools=1.9.0-0.1+deb12u1 \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
cat >"$folder/rig" <<'RIG'
set -euo pipefail
cd "$1"
python3 -c 'import fcntl, socket, struct; fcntl.ioctl(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 0x8914, struct.pack("16sh22x", b"lo", 1))'
mkdir state store tools
swtpm socket --tpm2 --tpmstate dir=state --server type=tcp,port=2321 --ctrl type=tcp,port=2322 --flags not-need-init,startup-clear &
# There is no resource manager here: each tool leaves its objects in the TPM's few places, which are cleared behind it.
printf '#!/bin/sh\n/usr/bin/tpm2 "$(basename "$0" | sed s/tpm2_//)" "$@"\ncode=$?\n/usr/bin/tpm2 flushcontext -t\nexit $code\n' >tools/any
chmod +x tools/any
for tool in /usr/bin/tpm2_*; do [ "$tool" = /usr/bin/tpm2_ptool ] || ln tools/any "tools/${tool##*/}"; done
export TPM2_PKCS11_STORE=$PWD/store TPM2_PKCS11_TCTI=swtpm:port=2321 TPM2TOOLS_TCTI=swtpm:port=2321 TPM2_PKCS11_LOG_LEVEL=0 TSS2_LOG=all+NONE
until PATH=$PWD/tools:$PATH tpm2_ptool init --path store; do sleep 0.2; done >&2
PATH=$PWD/tools:$PATH tpm2_ptool addtoken --pid 1 --label findings --userpin 1234 --sopin 5678 --path store >&2
tool() { pkcs11-tool --module /usr/lib/x86_64-linux-gnu/pkcs11/libtpm2_pkcs11.so --login --pin 1234 "$@"; }
tool -M >mechanisms 2>>messages
echo "mechanisms: $(grep -c "^  " mechanisms), to derive: $(grep -c derive mechanisms || true)"
tool --keypairgen --key-type EC:prime256v1 --id 01 --usage-derive >made 2>>messages
echo "an EC key made for derivation: $(grep -m1 Usage made | xargs)"
openssl ecparam -name prime256v1 -genkey -noout | openssl ec -pubout -outform der -out peer 2>>messages
said=$(tool --derive -m ECDH1-DERIVE --id 01 -i peer -o secret 2>&1) && said="a secret of $(wc -c <secret) bytes" || said=$(grep -o 'C[K_]*[A-Za-z]* failed.*CKR_[A-Z_]*' <<<"$said" | head -1)
echo "ECDH with it: $said"
tool --keypairgen --key-type rsa:2048 --id 02 >made 2>>messages
tool --read-object --type pubkey --id 02 -o rsa.der >>messages 2>&1
echo -n 4111 >text
openssl pkeyutl -encrypt -pubin -inkey rsa.der -keyform der -pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256 -in text -out sealed
tool --decrypt -m RSA-PKCS-OAEP --hash-algorithm SHA256 --mgf MGF1-SHA256 --id 02 -i sealed -o opened >>messages 2>&1 || tail -3 messages >&2
echo "RSA-OAEP with SHA-256: $(cat opened)"
RIG

# A network and a process space of its own: nobody else sees the TPM, and nothing is left running.
timeout -s KILL 300 unshare -n -p -f --kill-child bash "$folder/rig" "$folder" 2>"$folder/errors" | tee "$folder/now" || true

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
