// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// What Entry Point and the receipt want of an application's FCI.
struct FileControlInformation {
    /// DF Name (84), where it lies in the FCI.
    private var name: Range<Int>?
    var label: [UInt8]?
    var preferredName: [UInt8]?
    var codeTableIndex: UInt8?
    var languagePreference: [UInt8] = []
    /// The PDOL (9F38) asks for 9F66.
    var pdolContainsTTQ = false

    /// Takes the objects as far as the bytes are BER-TLV; kernels judge a malformed FCI by themselves.
    init(_ fci: [UInt8]) {
        var pdol: Range<Int>?
        var label: Range<Int>?
        var application: Range<Int>?
        var name: Range<Int>?
        var table: Range<Int>?
        var languages: Range<Int>?
        do throws(TLVError) {
            try TLV.walk(fci.span) { node in
                switch node.tag {
                case .dfName: application = node.value
                case .pdol: pdol = node.value
                case .applicationLabel: label = node.value
                case .preferredName: name = node.value
                case .issuerCodeTableIndex: table = node.value
                case .languagePreference: languages = node.value
                case _: break
                }
                return true
            }
        } catch {
            pdol = nil
        }
        self.name = application
        self.label = label.map { Array(fci[$0]) }
        preferredName = name.map { Array(fci[$0]) }
        codeTableIndex = table.flatMap { fci[$0].first }
        languagePreference = languages.map { Array(fci[$0].prefix(8)) } ?? []
        pdolContainsTTQ = pdol.map { DOLCursor.contains(.ttq, fci, $0) } ?? false
    }

    /// Whether the DF Name of `fci`, which this was made of, begins with `adfName`.
    func isNamed(as adfName: [UInt8], _ fci: [UInt8]) -> Bool {
        name.map { fci[$0].starts(with: adfName) } ?? false
    }
}
