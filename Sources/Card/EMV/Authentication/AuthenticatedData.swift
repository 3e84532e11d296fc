// SPDX-License-Identifier: Apache-2.0
/// What a verified signature carries.
public struct AuthenticatedData: Sendable, Equatable {
    /// ICC Dynamic Number (9F4C), 2…8 bytes; empty for SDA.
    public var iccDynamicNumber: [UInt8]
    /// Data Authentication Code (9F45), two bytes; empty for DDA and CDA.
    public var dataAuthenticationCode: [UInt8]
    /// CDA: the Application Cryptogram (9F26) inside the signature, eight bytes; otherwise empty.
    public var cryptogram: [UInt8]
    /// CDA: what follows the transaction data hash (kernel 2: data storage summaries, relay-resistance data).
    public var extra: [UInt8]

    public init(
        iccDynamicNumber: [UInt8] = [], dataAuthenticationCode: [UInt8] = [], cryptogram: [UInt8] = [],
        extra: [UInt8] = []
    ) {
        self.iccDynamicNumber = iccDynamicNumber
        self.dataAuthenticationCode = dataAuthenticationCode
        self.cryptogram = cryptogram
        self.extra = extra
    }
}

extension AuthenticatedData: CustomStringConvertible, CustomReflectable {
    public var description: String { "authenticated data" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
