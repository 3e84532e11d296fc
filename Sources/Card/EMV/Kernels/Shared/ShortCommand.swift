// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Builds commands from data whose length was checked before.
enum ShortCommand {
    /// A case 2 or case 4 command with Le 00. Data beyond 255 bytes is the caller's mistake and is cut.
    static func make(_ cla: UInt8, _ ins: UInt8, _ p1: UInt8, _ p2: UInt8, _ data: [UInt8] = []) -> CommandAPDU {
        do throws(APDUError) {
            return try CommandAPDU(cla: cla, ins: ins, p1: p1, p2: p2, data: data, le: 256)
        } catch {
            return make(cla, ins, p1, p2, Array(data.prefix(255)))
        }
    }
}
