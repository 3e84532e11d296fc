// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// SELECT commands that cannot fail: names of at most 16 bytes are always a short APDU.
enum SelectCommand {
    /// SELECT of the proximity payment system environment, "2PAY.SYS.DDF01".
    static let directory = command(Array("2PAY.SYS.DDF01".utf8))

    static func command(_ name: [UInt8]) -> CommandAPDU { ShortCommand.make(0x00, 0xA4, 0x04, 0x00, name) }
}
