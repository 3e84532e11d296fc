// SPDX-License-Identifier: Apache-2.0

/// A command of the machine to a cashless peripheral, without its address. (MDB/ICP 4.2, 7.4)
enum MDBCommand: Equatable, Sendable {
    case reset
    case setup(level: UInt8)
    case prices
    case poll
    case request(value: UInt32, item: UInt16)
    case cancel
    case success
    case failure
    case sessionComplete
    case cashSale
    case disable, enable, readerCancel
    case identify
    case writeTime
    case options(UInt32)

    /// - Returns: how many bytes it has with its checksum; 0 where more are needed to know, `nil` for one that is not known.
    static func length(_ bytes: [UInt8], isExpanded: Bool) -> Int? {
        guard let first = bytes.first else { return 0 }
        switch first & 0x07 {
        case 0x00, 0x02: return 2
        case 0x01, 0x03, 0x04, 0x07: break
        default: return nil
        }
        guard bytes.count > 1 else { return 0 }
        switch (first & 0x07, bytes[1]) {
        case (0x01, 0x00): return 7
        // 16 bits come first in any mode.
        case (0x01, 0x01): return isExpanded ? 13 : 7
        case (0x03, 0x00), (0x03, 0x05): return isExpanded ? 9 : 7
        case (0x03, 0x01), (0x03, 0x03), (0x03, 0x04): return 3
        case (0x03, 0x02): return 5
        case (0x04, 0x00...0x02): return 3
        case (0x07, 0x00): return 32
        case (0x07, 0x03): return 13
        case (0x07, 0x04): return 7
        default: return nil
        }
    }

    /// - Parameter bytes: whole, their checksum found right.
    init?(_ bytes: [UInt8], isExpanded: Bool) {
        func number(_ start: Int, _ count: Int) -> UInt32 {
            bytes.dropFirst(start).prefix(count).reduce(0) { $0 << 8 | UInt32($1) }
        }
        guard let first = bytes.first else { return nil }
        switch (first & 0x07, bytes.count > 2 ? bytes[1] : 0) {
        case (0x00, _): self = .reset
        case (0x02, _): self = .poll
        case (0x01, 0x00): self = .setup(level: bytes[2])
        case (0x01, 0x01): self = .prices
        case (0x03, 0x00):
            let count = isExpanded ? 4 : 2
            self = .request(value: number(2, count), item: UInt16(truncatingIfNeeded: number(2 + count, 2)))
        case (0x03, 0x01): self = .cancel
        case (0x03, 0x02): self = .success
        case (0x03, 0x03): self = .failure
        case (0x03, 0x04): self = .sessionComplete
        case (0x03, 0x05): self = .cashSale
        case (0x04, 0x00): self = .disable
        case (0x04, 0x01): self = .enable
        case (0x04, 0x02): self = .readerCancel
        case (0x07, 0x00): self = .identify
        case (0x07, 0x03): self = .writeTime
        case (0x07, 0x04): self = .options(number(2, 4))
        default: return nil
        }
    }
}
