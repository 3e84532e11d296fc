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
        var entries: [PPSEEntry] = []
        do throws(TLVError) {
            try discretionaryData(fci) { node in
                if node.tag == .applicationTemplate, let entry = PPSEEntry(fci, node.value) { entries.append(entry) }
            }
        } catch {
            return []
        }
        return entries
    }

    /// Visits the objects in 6F, A5, BF0C of a PPSE's FCI.
    ///
    /// - Throws: where it is no BER-TLV, after what comes before was visited.
    static func discretionaryData(_ fci: [UInt8], _ visit: (TLVNode) -> Void) throws(TLVError) {
        try TLV.children(fci.span, in: 0..<fci.count) { (template) throws(TLVError) in
            guard template.tag == .fciTemplate else { return }
            try TLV.children(fci.span, in: template.value) { (proprietary) throws(TLVError) in
                guard proprietary.tag == .fciProprietaryTemplate else { return }
                try TLV.children(fci.span, in: proprietary.value) { (discretionary) throws(TLVError) in
                    guard discretionary.tag == .fciDiscretionaryData else { return }
                    try TLV.children(fci.span, in: discretionary.value) { node in visit(node) }
                }
            }
        }
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
        // The first of each tag counts.
        var name: Range<Int>?
        var text: Range<Int>?
        var indicator: Range<Int>?
        var kernel: Range<Int>?
        var further: Range<Int>?
        do throws(TLVError) {
            try TLV.children(bytes.span, in: range) { node in
                switch node.tag {
                case .adfName: name = name ?? node.value
                case .applicationLabel: text = text ?? node.value
                case .applicationPriority: indicator = indicator ?? node.value
                case .kernelIdentifier: kernel = kernel ?? node.value
                case .extendedSelection: further = further ?? node.value
                case _: break
                }
            }
        } catch {
            return nil
        }
        guard let name, (5...16).contains(name.count) else { return nil }
        adfName = Array(bytes[name])
        label = text.map { Array(bytes[$0]) }
        priority = indicator.flatMap { bytes[$0].first } ?? 0
        kernelIdentifier = kernel.map { Array(bytes[$0]) } ?? []
        extendedSelection = further.map { Array(bytes[$0]) } ?? []
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
        PaymentNetwork.kernel(ofProvider: aid).map { KernelIdentifier(rawValue: UInt32($0)) }
    }
}
