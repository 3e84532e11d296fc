// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Codes

/// One directory entry (61) of the PPSE (EMV Contactless Book B Table 3-3).
struct PPSEEntry: Equatable {
    /// ADF name (4F), 5…16 bytes.
    var adfName: [UInt8]
    var label: [UInt8]?
    /// Application Priority Indicator (87); 0 where absent.
    var priority: UInt8
    /// Kernel Identifier (9F2A); empty where absent.
    var kernelIdentifier: [UInt8]
    /// Extended Selection (9F29); empty where absent.
    var extendedSelection: [UInt8]

    /// The well-formed entries of a PPSE's FCI in their order: those in 6F, A5, BF0C.
    ///
    /// An entry without a proper ADF name, or whose own content is no BER-TLV, is left out (requirement 3.3.2.5 A); an
    /// FCI that is no BER-TLV has no entries.
    static func entries(ofPPSE fci: [UInt8]) -> [PPSEEntry] {
        guard let nodes = discretionaryData(fci) else { return [] }
        return nodes.filter { $0.tag == .applicationTemplate }.compactMap { PPSEEntry(fci, $0.value) }
    }

    /// The objects in 6F, A5, BF0C of a PPSE's FCI; `nil` where it is no BER-TLV.
    static func discretionaryData(_ fci: [UInt8]) -> [TLVNode]? {
        var ranges = [0..<fci.count]
        for template: Tag in [.fciTemplate, .fciProprietaryTemplate, .fciDiscretionaryData] {
            var inner: [Range<Int>] = []
            for range in ranges {
                guard let nodes = children(fci, range) else { return nil }
                for node in nodes where node.tag == template { inner.append(node.value) }
            }
            ranges = inner
        }
        var objects: [TLVNode] = []
        for range in ranges {
            guard let nodes = children(fci, range) else { return nil }
            objects += nodes
        }
        return objects
    }

    private static func children(_ bytes: [UInt8], _ range: Range<Int>) -> [TLVNode]? {
        do throws(TLVError) { return try TLV.children(bytes, in: range) } catch { return nil }
    }

    /// An entry that leaves the choice of the kernel to the reader.
    init(adfName: [UInt8]) {
        self.adfName = adfName
        label = nil
        priority = 0
        kernelIdentifier = [0x00, 0x00]
        extendedSelection = []
    }

    private init?(_ bytes: [UInt8], _ range: Range<Int>) {
        guard let nodes = PPSEEntry.children(bytes, range) else { return nil }
        func value(_ tag: Tag) -> [UInt8]? {
            for node in nodes where node.tag == tag { return Array(bytes[node.value]) }
            return nil
        }
        guard let name = value(.adfName), (5...16).contains(name.count) else { return nil }
        adfName = name
        label = value(.applicationLabel)
        priority = value(.applicationPriority)?.first ?? 0
        kernelIdentifier = value(.kernelIdentifier) ?? []
        extendedSelection = value(.extendedSelection) ?? []
    }

    /// Position in the order of selection: 1…15, lower first; 16 for an entry without priority (requirement 3.3.3.2).
    var selectionOrder: UInt8 {
        let nibble = priority & 0x0F
        return nibble == 0 ? 16 : nibble
    }

    /// The Requested Kernel ID (requirement 3.3.2.5 C), for an entry that `aid` of the reader matches. One of more than
    /// eight bytes is no Kernel Identifier.
    func requestedKernel(matching aid: [UInt8], _ version: EntryPointVersion) -> RequestedKernel {
        guard kernelIdentifier.count <= 8 else { return .none }
        let isDefault = kernelIdentifier.isEmpty || kernelIdentifier == [0x00] && version == .v2_12
        guard let first = kernelIdentifier.first, !isDefault else {
            let kernel = PPSEEntry.defaultKernel(of: aid)
            return kernel.map { .kernel($0) } ?? .any
        }
        if first & 0x80 == 0 {
            return first == 0 ? .any : .kernel(KernelIdentifier(rawValue: UInt32(first)))
        }
        // A proprietary form (short kernel id 0) is out of the specification's scope; no kernel here claims one.
        guard kernelIdentifier.count >= 3, first & 0x3F != 0 else { return .none }
        return .kernel(KernelIdentifier(rawValue: kernelIdentifier.prefix(3).reduce(0) { $0 << 8 | UInt32($1) }))
    }

    /// Default kernel by RID of the matching AID (EMV Contactless Book B Table 3-6); `nil` for any other RID.
    static func defaultKernel(of aid: [UInt8]) -> KernelIdentifier? {
        PaymentNetwork(aid: aid)?.kernel.map { KernelIdentifier(rawValue: UInt32($0)) }
    }
}
