# SPDX-License-Identifier: Apache-2.0
"""Codes of messages and their keys, as the second host has them: AES-CMAC (NIST SP 800-38B) of which eight bytes are sent, over everything before the field;
a key for each line, handed over wrapped (RFC 3394) with three bytes of its check value, the CMAC of a block of zeros. By the library `cryptography`."""
from cryptography.hazmat.primitives.ciphers import algorithms
from cryptography.hazmat.primitives.cmac import CMAC
from cryptography.hazmat.primitives.keywrap import aes_key_wrap


def cmac(key, data):
    code = CMAC(algorithms.AES(key))
    code.update(data)
    return code.finalize()


class Codes:
    def __init__(self, zone, dice):
        self.zone, self.dice = bytes.fromhex(zone), dice

    def fresh(self):
        return self.dice.randbytes(16)

    def handed(self, key):
        """The text of field 48."""
        return (aes_key_wrap(self.zone, key) + cmac(key, bytes(16))[:3]).hex().upper()

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
        code = cmac(self.fresh() if how == "another key" else key, covered)[:8]
        if how == "wrong code":
            code = bytes([code[0] ^ 0x40]) + code[1:]
        return covered + code.hex().upper().encode()

    def is_good(self, data, message, key):
        field = self.place(message)
        if key is None or max(message) != field:
            return False
        return data[-16:].decode().upper() == cmac(key, data[:-16])[:8].hex().upper()
