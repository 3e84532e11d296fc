#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second hand for kernel 8: its cryptography and a card that speaks it, written from a description in words of C-8 1.1 and
Book E before any line of the Swift code was read, on top of PyPI's cryptography (OpenSSL).

    kernel8-peer.py vectors SEED COUNT         prints COUNT cases of every kind, one JSON object a line
    kernel8-peer.py card SEED [NAME=VALUE…]    is a card: a command in hex a line, its answer in hex; "?" tells what it knows

SEED makes every key and every value, so that a failure can be repeated. All of them are test keys. For a card, `fault` is one
thing that is wrong (see Card), `relay=yes` measures the distance, `copy=1` or `2` asks for the IAD-MAC inside the IAD."""

import hashlib
import json
import sys

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.cmac import CMAC

CURVE = ec.SECP256R1()
P = 2**256 - 2**224 + 2**192 + 2**96 - 1
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


class Stream:
    """Bytes that depend on a seed and a name, and on nothing else."""

    def __init__(self, seed, name):
        self.text, self.count = f"nfc-tap kernel 8 {seed} {name}".encode(), 0

    def bytes(self, count):
        found = b""
        while len(found) < count:
            found += hashlib.sha256(self.text + self.count.to_bytes(4, "big")).digest()
            self.count += 1
        return found[:count]

    def below(self, limit):
        return int.from_bytes(self.bytes(8), "big") % limit

    def scalar(self):
        return 1 + int.from_bytes(self.bytes(40), "big") % (N - 1)


# MARK: AES


def aes(key, block):
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return encryptor.update(block) + encryptor.finalize()


def cmac(key, message):
    mac = CMAC(algorithms.AES(key))
    mac.update(message)
    return mac.finalize()


def cmac_plus(key, message):
    """The CMAC, decrypted once in CBC with itself as the initial vector."""
    mac = cmac(key, message)
    decryptor = Cipher(algorithms.AES(key), modes.CBC(mac)).decryptor()
    return decryptor.update(mac) + decryptor.finalize()


def crypt(key, counter, data):
    """AES-CTR whose first counter block is the message's counter and fourteen zeros."""
    encryptor = Cipher(algorithms.AES(key), modes.CTR(counter.to_bytes(2, "big") + bytes(14))).encryptor()
    return encryptor.update(data) + encryptor.finalize()


# MARK: P-256


def coordinates(scalar):
    numbers = ec.derive_private_key(scalar, CURVE).public_key().public_numbers()
    return numbers.x, numbers.y


def long_term(scalar):
    """The scalar or its negative: the one whose point has the smaller y, which is how a key is known by its x alone."""
    y = coordinates(scalar)[1]
    return scalar if y < P - y else N - scalar


def x_of(scalar):
    return coordinates(scalar)[0].to_bytes(32, "big")


def times(scalar, x):
    """The x of scalar · the point with this x; which of both points does not matter for that."""
    point = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, b"\x02" + x)
    return ec.derive_private_key(scalar, CURVE).exchange(ec.ECDH(), point)


def sign(scalar, nonce, message):
    """EC-SDSA with SHA-256: r = H(x of kG ‖ message), s = k + r·d."""
    r = hashlib.sha256(x_of(nonce) + message).digest()
    s = (nonce + int.from_bytes(r, "big") * scalar) % N
    assert s != 0 and int.from_bytes(r, "big") % N != 0
    return r + s.to_bytes(32, "big")


# MARK: Secure channel


def session_keys(z):
    derivation = cmac(bytes(16), z)
    common = bytes.fromhex("0100" "54334A325957773D" "A5A5A5" "0180")
    return aes(derivation, b"\x01" + common), aes(derivation, b"\x02" + common)


def iad_mac(integrity, pdol, cdol1, relay, answer, static_hash):
    """`answer`: the objects of GENERATE AC's answer as (tag, value), in their order."""
    kept = b"".join(tlv(tag, value) for tag, value in answer if tag not in ("9F26", "9F8105"))
    return cmac_plus(integrity, b"\0\0" + pdol + cdol1 + relay + kept + static_hash)[:8]


def eda_mac(integrity, cryptogram, iad):
    return cmac(integrity, b"\0\0" + cryptogram + iad)[:8]


# MARK: Certificates


def issuer_certificate(ca, nonce, identifier, expiry, serial, rid, index, issuer_x):
    digits = identifier + "F" * (10 - len(identifier))
    body = bytes.fromhex("1200" + digits + "10" + expiry) + serial + rid + bytes([index]) + issuer_x
    return body + sign(ca, nonce, body)


def icc_certificate(issuer, nonce, expiry, time, serial, static_hash, icc_x, encoding=1, suite=0):
    body = bytes.fromhex("1400") + bytes([suite]) + bytes.fromhex(expiry + time) + serial
    body += bytes([encoding, 2]) + static_hash + icc_x
    return body + sign(issuer, nonce, body)


def ca_checksum(rid, index, scalar, algorithm):
    x, y = coordinates(scalar)
    whole = rid + bytes([index, 0x10]) + x.to_bytes(32, "big") + y.to_bytes(32, "big")
    return hashlib.new(algorithm, whole).digest()


# MARK: BER-TLV


def tlv(tag, value):
    count = len(value)
    length = bytes([count]) if count < 128 else bytes([0x81, count]) if count < 256 else b"\x82" + count.to_bytes(2, "big")
    return bytes.fromhex(tag) + length + value


def dol(*entries):
    return b"".join(bytes.fromhex(tag) + bytes([length]) for tag, length in entries)


def split(entries, data):
    found, at = {}, 0
    for tag, length in entries:
        found[tag] = data[at : at + length]
        at += length
    assert at == len(data), "the terminal's list has another length"
    return found


# MARK: Vectors


def vectors(seed, count):
    def show(kind, **fields):
        print(json.dumps({"kind": kind} | {k: v.hex().upper() if isinstance(v, bytes) else v for k, v in fields.items()}))

    for number in range(count):
        random = Stream(seed, f"vector {number}")
        kernel, icc, blinding = random.scalar(), long_term(random.scalar()), random.scalar()
        kx, ky = (c.to_bytes(32, "big") for c in coordinates(kernel))
        blinded = times(blinding, x_of(icc))
        # The card's way to the secret; the terminal's is the kernel's scalar times the blinded key.
        z = times(blinding * icc % N, kx)
        assert z == times(kernel, blinded)
        confidentiality, integrity = session_keys(z)
        key_data = blinded + crypt(confidentiality, 0x8000, blinding.to_bytes(32, "big"))
        show("agreement", kernelPrivate=kernel.to_bytes(32, "big"), kernelKeyData=kx + ky, cardKeyData=key_data, z=z,
             confidentiality=confidentiality, integrity=integrity, iccX=x_of(icc), blinding=blinding.to_bytes(32, "big"),
             otherX=x_of(random.scalar()))

        body = random.bytes(random.below(200))
        counter = 0x8001 + random.below(0x7FFE)
        show("record", key=confidentiality, counter=counter.to_bytes(2, "big"), plain=body,
             encrypted=crypt(confidentiality, counter, body))

        message = random.bytes(random.below(70))
        show("mac", key=integrity, message=message, cmac=cmac(integrity, message), plus=cmac_plus(integrity, message))

        answer = [("9F27", b"\x80"), ("9F36", random.bytes(2)), ("9F8102", b"\x00"), ("9F26", random.bytes(8)),
                  ("9F10", random.bytes(random.below(33))), ("9F8105", random.bytes(8)), ("9F8104", random.bytes(5))]
        pdol, cdol1 = random.bytes(random.below(90)), random.bytes(random.below(60))
        relay = random.bytes(14) if random.below(2) else b""
        static_hash = random.bytes(32)
        iad = iad_mac(integrity, pdol, cdol1, relay, answer, static_hash)
        show("macs", key=integrity, pdol=pdol, cdol1=cdol1, relay=relay, staticHash=static_hash, iadMAC=iad,
             answer=b"".join(tlv(tag, value) for tag, value in answer), cryptogram=dict(answer)["9F26"],
             edaMAC=eda_mac(integrity, dict(answer)["9F26"], iad))

        signer = long_term(random.scalar())
        signature = sign(signer, random.scalar(), message)
        bad = bytearray(signature)
        bad[random.below(64)] ^= 1 << random.below(8)
        show("signature", x=x_of(signer), message=message, signature=signature, damaged=bytes(bad), zero=signature[:32] + bytes(32),
             order=signature[:32] + N.to_bytes(32, "big"))

        card = Card(seed, f"chain {number}")
        show("chain", rid=card.rid, index=bytes([card.index]), ca=x_of(card.ca) + coordinates(card.ca)[1].to_bytes(32, "big"),
             sha256=ca_checksum(card.rid, card.index, card.ca, "sha256"), sha1=ca_checksum(card.rid, card.index, card.ca, "sha1"),
             pan=bytes.fromhex(card.pan), issuer=card.issuer_certificate, issuerX=x_of(card.issuer), icc=card.icc_certificate,
             iccX=x_of(card.icc), staticHash=card.static_hash)


# MARK: A card


class Card:
    """FAULT is one thing that is wrong: blinding, record, iad-mac, eda-mac, issuer-signature, icc-signature, static, issuer-id."""

    aid, rid, index = bytes.fromhex("F04E46432D43380101"), bytes.fromhex("F04E46432D"), 0xE1
    pdol = [("9E", 64), ("9F2B", 8), ("9F37", 4), ("9F02", 6), ("5F2A", 2), ("9F1A", 2), ("9A", 3), ("9C", 1)]
    cdol1 = [("9F02", 6), ("9F03", 6), ("9F1A", 2), ("95", 5), ("5F2A", 2), ("9A", 3), ("9C", 1), ("9F37", 4), ("9F35", 1),
             ("9F34", 3)]

    def __init__(self, seed, name="card", fault="", relay=False, copy=0):
        self.random, self.fault = Stream(seed, name), fault
        self.ca, self.issuer, self.icc = (long_term(self.random.scalar()) for _ in range(3))
        self.pan = "541333" + str(10**10 + self.random.below(9 * 10**10))[1:]
        self.aip = bytes([0x19, 0x08 | copy << 1 | int(relay)])
        self.counter, self.relay = 0x8000, b""
        self.plain = [
            tlv("5A", bytes.fromhex(self.pan)) + tlv("5F24", bytes.fromhex("301231")) + tlv("5F34", b"\x01"),
            tlv("5F28", bytes.fromhex("0056")) + tlv("9F8107", b"\x06"),
        ]
        self.extended = ["84", "50"]
        self.label = b"Second hand"
        self.plain.append(tlv("9F810A", b"".join(map(bytes.fromhex, self.extended))))
        static = b"".join(self.plain) + tlv("84", self.aid) + tlv("50", self.label) + self.aip
        self.static_hash = hashlib.sha256(static).digest()
        certified = bytes(32) if fault == "static" else self.static_hash
        identifier = "999999" if fault == "issuer-id" else self.pan[: 3 + self.random.below(8)]
        self.issuer_certificate = issuer_certificate(
            self.ca, self.random.scalar(), identifier, "20301231", self.random.bytes(3), self.rid, self.index, x_of(self.issuer))
        self.icc_certificate = icc_certificate(
            self.issuer, self.random.scalar(), "20301231", "2359", self.random.bytes(6), certified, x_of(self.icc))
        if fault == "issuer-signature":
            self.issuer_certificate = self.issuer_certificate[:-1] + bytes([self.issuer_certificate[-1] ^ 1])
        if fault == "icc-signature":
            self.icc_certificate = self.icc_certificate[:-1] + bytes([self.icc_certificate[-1] ^ 1])

    def next_counter(self):
        self.counter += 1
        return self.counter - 1

    def answer(self, command):
        kind = command[:2].hex().upper()
        data = command[5 : 5 + command[4]] if len(command) > 5 else b""
        handlers = {"00A4": self.select, "80A8": self.options, "80EA": self.measure, "00B2": self.read, "80AE": self.generate}
        handler = handlers.get(kind)
        return handler(command, data) + b"\x90\x00" if handler else b"\x6D\x00"

    def select(self, _, name):
        if name == b"2PAY.SYS.DDF01":
            entry = tlv("61", tlv("4F", self.aid) + tlv("87", b"\x01") + tlv("9F2A", b"\x08"))
            return tlv("6F", tlv("84", name) + tlv("A5", tlv("BF0C", entry)))
        qualifier = tlv("9F2C", bytes.fromhex("0100FFFF000000"))
        proprietary = tlv("50", self.label) + tlv("9F38", dol(*self.pdol)) + tlv("BF0C", qualifier)
        return tlv("6F", tlv("84", self.aid) + tlv("A5", proprietary))

    def options(self, _, data):
        self.pdol_values = data[2:] if data[1] < 128 else data[3:]
        self.terminal = split(self.pdol, self.pdol_values)
        blinding = self.random.scalar()
        point = self.terminal["9E"]
        public = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, b"\x04" + point)
        shared = ec.derive_private_key(blinding * self.icc % N, CURVE).exchange(ec.ECDH(), public)
        self.confidentiality, self.integrity = session_keys(shared)
        told = blinding if self.fault != "blinding" else blinding ^ 1
        key_data = times(blinding, x_of(self.icc)) + crypt(self.confidentiality, self.next_counter(), told.to_bytes(32, "big"))
        # SFI 1: three static records, the first two encrypted; SFI 2: the certificates.
        files = bytes.fromhex("08010303" "10010200")
        return tlv("77", tlv("82", self.aip) + tlv("94", files) + tlv("9F8103", key_data) + tlv("8C", dol(*self.cdol1)))

    def measure(self, _, entropy):
        assert len(entropy) == 4
        answer = self.random.bytes(4) + bytes.fromhex("0000" "FFFF" "0018")
        self.relay = entropy + answer
        return tlv("80", answer)

    def read(self, command, _):
        file, number = command[3] >> 3, command[2]
        if file == 1 and number in (1, 2):
            body = crypt(self.confidentiality, self.next_counter(), self.plain[number - 1])
            if self.fault == "record" and number == 1:
                body = bytes([body[0] ^ 1]) + body[1:]
            return tlv("DA", body)
        if file == 1:
            return tlv("70", self.plain[number - 1])
        if number == 1:
            return tlv("70", tlv("8F", bytes([self.index])) + tlv("90", self.issuer_certificate))
        return tlv("70", tlv("9F46", self.icc_certificate))

    def generate(self, command, data):
        split(self.cdol1, data)
        identifier = command[2] & 0xC0
        cryptogram = cmac(hashlib.sha256(b"card key").digest()[:16], data)[:8]
        answer = [("9F27", bytes([identifier])), ("9F36", b"\x00\x2A"), ("9F26", cryptogram), ("9F8102", b"\x00"),
                  ("9F10", bytes.fromhex("0601") + bytes(30))]
        self.iad = iad_mac(self.integrity, self.pdol_values, data, self.relay, answer, self.static_hash)
        self.eda = eda_mac(self.integrity, cryptogram, bytes(8) if self.fault == "iad-mac" else self.iad)
        answer.append(("9F8105", self.eda if self.fault != "eda-mac" else self.eda[:7] + bytes([self.eda[7] ^ 1])))
        return tlv("77", b"".join(tlv(tag, value) for tag, value in answer))

    def known(self):
        return {"caX": x_of(self.ca).hex(), "caY": coordinates(self.ca)[1].to_bytes(32, "big").hex(), "pan": self.pan,
                "iadMAC": getattr(self, "iad", b"").hex()}


def main(arguments):
    match arguments:
        case ["vectors", seed, count]:
            vectors(seed, int(count))
        case ["card", seed, *options]:
            settings = dict(option.split("=", 1) for option in options)
            relay, copy = settings.get("relay") == "yes", int(settings.get("copy", "0"))
            card = Card(seed, fault=settings.get("fault", ""), relay=relay, copy=copy)
            for line in sys.stdin:
                print(json.dumps(card.known()) if line.strip() == "?" else card.answer(bytes.fromhex(line)).hex(), flush=True)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
