// SPDX-License-Identifier: Apache-2.0
/// An application of a card that this reader cannot take, because it has no kernel for it: with `read.card_unsupported`.
public struct UnsupportedKernel: Codable, Equatable, Sendable {
    /// `Interac`, `RuPay` …; `nil` for a provider that is not known.
    public var scheme: String?
    /// The beginning of the application's identifier, in hexadecimal.
    public var aid: String
    /// The kernel that the card asks for, in hexadecimal; `nil` where it names none and its provider has none by default.
    public var kernel: String?

    public init(scheme: String?, aid: String, kernel: String?) {
        self.scheme = scheme
        self.aid = aid
        self.kernel = kernel
    }
}

extension UnsupportedKernel: CustomStringConvertible {
    /// `Interac, AID A0000002771010, kernel 2C`.
    public var description: String {
        [scheme, "AID \(aid)", kernel.map { "kernel \($0)" }].compactMap { $0 }.joined(separator: ", ")
    }
}
