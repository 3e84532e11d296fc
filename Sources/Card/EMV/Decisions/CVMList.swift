// SPDX-License-Identifier: Apache-2.0
/// Cardholder Verification Method List (8E; EMV Book 3 §10.5).
public struct CVMList: Equatable, Sendable {
    public struct Rule: Equatable, Sendable {
        /// CVM code as sent, with bit 7.
        public let code: UInt8
        public let condition: UInt8

        public init(code: UInt8, condition: UInt8) {
            self.code = code
            self.condition = condition
        }

        /// The method without bits 8 and 7.
        public var method: UInt8 { code & 0x3F }
        /// Bit 7: an unsuccessful method leads to the next rule instead of failure.
        public var appliesSucceeding: Bool { code & 0x40 != 0 }
    }

    /// Amounts in minor units of the application currency (9F42).
    public let x: UInt32
    public let y: UInt32
    public let rules: [Rule]

    /// - Parameter bytes: `nil` where there is not one whole rule, or a last one is cut off (EMV Book 3 §10.5; C-2
    ///   CVM.9).
    public init?(_ bytes: [UInt8]) {
        guard bytes.count >= 10, bytes.count.isMultiple(of: 2) else { return nil }
        x = bytes[0..<4].reduce(0) { $0 << 8 | UInt32($1) }
        y = bytes[4..<8].reduce(0) { $0 << 8 | UInt32($1) }
        rules = stride(from: 8, to: bytes.count, by: 2).map { Rule(code: bytes[$0], condition: bytes[$0 + 1]) }
    }
}
