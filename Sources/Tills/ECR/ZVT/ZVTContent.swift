// SPDX-License-Identifier: Apache-2.0
import Digits

/// A packet taken apart: what stands in fixed places, then bitmaps or a text.
public struct ZVTContent: Equatable, Sendable {
    public let control: UInt16
    /// Password, configuration, result or attribute, by the kind of the packet.
    public let head: [UInt8]
    public let fields: [ZVTField]
    /// What has no length of its own: the text of a printed line.
    public let text: [UInt8]

    public init(_ packet: ZVTPacket) throws(ZVTFailure) {
        control = packet.control
        let data = packet.data
        let count = ZVTContent.headLength(packet)
        guard data.count >= count else { throw .truncated }
        head = Array(data.prefix(count))
        if packet.control == 0x06D1 {
            text = Array(data.dropFirst(count))
            fields = []
        } else {
            text = []
            fields = try ZVTField.parse(data.dropFirst(count))
        }
    }

    /// - Parameter isOfStatus: a completion of a status enquiry: `[version] status [container]`. A 06 in the place of the status
    ///   is a status.
    public init(completion packet: ZVTPacket, isOfStatus: Bool) throws(ZVTFailure) {
        guard isOfStatus else {
            self = try ZVTContent(packet)
            return
        }
        control = packet.control
        let data = packet.data
        var count = 0
        if let first = data.first, first >= 0xF0, data.count >= 3 {
            count = 3 + (try ZVTField.length(digits: data.prefix(3)))
        }
        guard data.count > count else { throw .truncated }
        head = Array(data.prefix(count + 1))
        text = []
        fields = try ZVTField.parse(data.dropFirst(count + 1))
    }

    public var packet: ZVTPacket? { ZVTPacket(control, head + fields.bytes + text) }

    private static func headLength(_ packet: ZVTPacket) -> Int {
        let count = packet.data.count
        switch packet.control {
        // Password and configuration; a currency that has no number may follow.
        case 0x0600: return count > 4 ? 6 : 4
        // Password, which tills leave out where no money moves.
        case 0x0501, 0x0612, 0x0620, 0x0670, 0x0679, 0x0693: return hasPassword(packet.data) ? 3 : 0
        case 0x0610, 0x061B, 0x0630, 0x0631, 0x0650: return 3
        // Seconds for a card, without a bitmap.
        case 0x06C0: return min(1, count)
        // Which of a terminal's systems is asked, in no bitmap.
        case 0x0FA1: return count
        case 0x061E, 0x06D1: return 1
        // Status, then minutes, without which no container can follow.
        case 0x04FF: return min(2, max(1, count))
        default: return 0
        }
    }

    /// Six digits, and behind them what can be read. A container in their place is no password: its length is seldom a number of
    /// two digits, and what follows it cannot be read without it.
    private static func hasPassword(_ data: [UInt8]) -> Bool {
        guard data.count >= 3, BCD.decode(data.prefix(3)) != nil else { return false }
        do throws(ZVTFailure) {
            _ = try ZVTField.parse(data.dropFirst(3))
            return true
        } catch {
            do throws(ZVTFailure) {
                _ = try ZVTField.parse(data)
                return false
            } catch {
                return true
            }
        }
    }
}
