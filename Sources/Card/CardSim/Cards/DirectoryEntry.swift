// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// One entry (template 61) of the PPSE (EMV Book B §3.3.1).
public struct DirectoryEntry: Sendable {
    /// 4F.
    public var name: [UInt8]
    /// 50 in ASCII; `nil` leaves it out.
    public var label: String?
    /// 87, 1 (first) … 15; `nil` leaves it out.
    public var priority: UInt8?
    /// 9F2A; `nil` leaves it out.
    public var kernel: [UInt8]?
    /// 9F29; `nil` leaves it out.
    public var extendedSelection: [UInt8]?

    public init(
        name: [UInt8], label: String? = nil, priority: UInt8? = nil, kernel: [UInt8]? = nil,
        extendedSelection: [UInt8]? = nil
    ) {
        self.name = name
        self.label = label
        self.priority = priority
        self.kernel = kernel
        self.extendedSelection = extendedSelection
    }

    static let directoryName = Array("2PAY.SYS.DDF01".utf8)

    /// The FCI of a PPSE with these entries: `6F { 84, A5 { BF0C { 61 … } } }`.
    static func fci(_ entries: [DirectoryEntry]) -> [UInt8] {
        var writer = TLVWriter()
        writer.append(0x6F) { fci in
            fci.append(0x84, directoryName)
            fci.append(0xA5) { template in
                template.append(0xBF0C) { data in
                    for entry in entries { data.append(0x61, entry.objects) }
                }
            }
        }
        return writer.bytes
    }

    private var objects: [UInt8] {
        var writer = TLVWriter()
        writer.append(0x4F, name)
        if let label { writer.append(0x50, Array(label.utf8)) }
        if let priority { writer.append(0x87, [priority]) }
        if let kernel { writer.append(0x9F2A, kernel) }
        if let extendedSelection { writer.append(0x9F29, extendedSelection) }
        return writer.bytes
    }
}
