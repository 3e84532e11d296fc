// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// The application that Entry Point selected.
public struct SelectedApplication: Equatable, Sendable {
    /// ADF name of the directory entry (4F), 5…16 bytes.
    public var adfName: [UInt8]
    /// The reader's AID that it matched.
    public var matchingAID: [UInt8]
    public var kernel: KernelIdentifier
    /// The answer to SELECT without the status word: the FCI (6F).
    public var fci: [UInt8]
    /// Application Label (50), from the FCI or else the directory entry.
    public var label: [UInt8]?
    /// Application Preferred Name (9F12), in the code table of 9F11.
    public var preferredName: [UInt8]?
    /// Issuer Code Table Index (9F11): part of ISO/IEC 8859, 1…10.
    public var codeTableIndex: UInt8?
    /// Language Preference (5F2D): up to four ISO 639-1 codes in ASCII.
    public var languagePreference: [UInt8]

    public init(
        adfName: [UInt8], matchingAID: [UInt8], kernel: KernelIdentifier, fci: [UInt8] = [], label: [UInt8]? = nil,
        preferredName: [UInt8]? = nil, codeTableIndex: UInt8? = nil, languagePreference: [UInt8] = []
    ) {
        self.adfName = adfName
        self.matchingAID = matchingAID
        self.kernel = kernel
        self.fci = fci
        self.label = label
        self.preferredName = preferredName
        self.codeTableIndex = codeTableIndex
        self.languagePreference = languagePreference
    }
}

extension SelectedApplication: CustomStringConvertible, CustomReflectable {
    /// Names the matched AID of the reader and the kernel, nothing the card said.
    public var description: String { "AID \(Hex.string(matchingAID)), kernel \(kernel.rawValue)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
