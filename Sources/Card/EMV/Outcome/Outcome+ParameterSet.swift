// SPDX-License-Identifier: Apache-2.0
extension Outcome {
    /// Outcome Parameter Set (DF8129 of kernel 2, eight bytes): status, start, online response data, CVM, flags, alternate
    /// interface, field off, removal time-out.
    public var parameterSet: [UInt8] {
        var flags: UInt8 = 0
        if uiOnOutcome != nil { flags |= 0x80 }
        if uiOnRestart != nil { flags |= 0x40 }
        if dataRecord != nil { flags |= 0x20 }
        if discretionaryData != nil { flags |= 0x10 }
        if receipt { flags |= 0x08 }
        return [
            status.rawValue, start?.rawValue ?? 0xF0, onlineResponseData?.rawValue ?? 0xF0, cvm?.rawValue ?? 0xF0,
            flags,
            alternateInterface?.rawValue ?? 0xF0, fieldOffRequest ?? 0xFF, removalTimeout,
        ]
    }
}

extension UIRequest {
    /// User Interface Request Data (DF8116 of kernel 2, 22 bytes): message, status, hold time (n6), language preference (8),
    /// value qualifier, value (n12), currency (2).
    public var bytes: [UInt8] {
        var hold = [UInt8](repeating: 0, count: 3)
        var rest = holdTime
        for index in hold.indices.reversed() {
            hold[index] = UInt8(rest % 10) | UInt8(rest / 10 % 10) << 4
            rest /= 100
        }
        var bytes = [message.rawValue, status.rawValue] + hold
        bytes += UIRequest.padded(languagePreference, 8)
        bytes.append(value?.qualifier.rawValue ?? 0)
        bytes += UIRequest.padded(value?.amount ?? [], 6)
        return bytes + UIRequest.padded(value?.currency ?? [], 2)
    }

    private static func padded(_ bytes: [UInt8], _ count: Int) -> [UInt8] {
        bytes.prefix(count) + [UInt8](repeating: 0, count: max(0, count - bytes.count))
    }
}
