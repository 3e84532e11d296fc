# SPDX-License-Identifier: Apache-2.0
"""Codes of messages and their keys, as the second host has them: AES-CMAC (NIST SP 800-38B) of which eight bytes are sent, over everything before the field;
a key for each line, handed over wrapped (RFC 3394) with three bytes of its check value, the CMAC of a block of zeros. Or the retail MAC (ISO 9797-1 algorithm 3)
by two keys of DES, handed over as both and as the left one twice, each with its check value, a block of zeros encrypted. By the libraries `cryptography` and
`pyemv`."""
try:
    from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
except ImportError:
    from cryptography.hazmat.primitives.ciphers.algorithms import TripleDES
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.cmac import CMAC
from cryptography.hazmat.primitives.keywrap import aes_key_wrap


def cmac(key, data):
    code = CMAC(algorithms.AES(key))
    code.update(data)
    return code.finalize()


def retail(key, data):
    from pyemv.mac import mac_iso9797_3
    return mac_iso9797_3(key[:8], key[8:], data, 1)


def des_check(key):
    return Cipher(TripleDES(key + key[:8]), modes.ECB()).encryptor().update(bytes(8))[:3]


class Codes:
    def __init__(self, zone, dice, algorithm="cmac"):
        self.zone, self.dice, self.is_retail = bytes.fromhex(zone), dice, algorithm == "retail"
        self.code = retail if self.is_retail else cmac

    def fresh(self):
        key = self.dice.randbytes(16)
        # Bytes of DES have an odd count of ones.
        return bytes(byte ^ (byte.bit_count() + 1) % 2 for byte in key) if self.is_retail else key

    def handed(self, key):
        """The text of field 48."""
        if not self.is_retail:
            return (aes_key_wrap(self.zone, key) + cmac(key, bytes(16))[:3]).hex().upper()
        parts = [key, key[:8] + key[:8]]
        return b"".join(aes_key_wrap(self.zone, part) + des_check(part) for part in parts).hex().upper()

    def damaged(self, text):
        """What no switch may take."""
        place = self.dice.choice([8, len(text) - 1])
        other = "1" if text[place] == "0" else "0"
        return self.dice.choice([text[:place] + other + text[place + 1:], "ZPK", text[:-6]])

    @staticmethod
    def place(message):
        return 128 if any(64 < number < 128 for number in message) else 64

    def packed(self, message, key, how=None):
        """The message with its code: how says what is wrong with it."""
        bare = {number: text for number, text in message.items() if number not in (64, 128)}
        if how == "no code" or key is None:
            return type(message)(message.kind, bare).pack()
        field = self.place(bare)
        covered = type(message)(message.kind, {**bare, field: "0" * 16}).pack()[:-16]
        code = self.code(self.fresh() if how == "another key" else key, covered)[:8]
        if how == "wrong code":
            code = bytes([code[0] ^ 0x40]) + code[1:]
        return covered + code.hex().upper().encode()

    def is_good(self, data, message, key):
        field = self.place(message)
        if key is None or max(message) != field:
            return False
        return data[-16:].decode().upper() == self.code(key, data[:-16])[:8].hex().upper()
