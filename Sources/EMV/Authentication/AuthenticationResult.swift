/// What offline data authentication found.
public enum AuthenticationResult: Sendable, Equatable {
    case verified(AuthenticatedData)
    case failed(AuthenticationFailure)
}

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

/// Which step of offline data authentication failed. Kernels treat all alike; the reason is for people.
public enum AuthenticationFailure: Sendable, Equatable {
    case caKeyMissing
    /// A certificate, exponent, remainder or signature that the method needs is absent.
    case dataMissing
    /// A certificate or signature has not the length of the key's modulus, or a remainder the wrong length.
    case lengthMismatch
    /// Header, trailer or format of recovered data is wrong.
    case malformedRecoveredData
    /// Hash or public key algorithm other than SHA-1 and RSA.
    case unsupportedAlgorithm
    case issuerCertificateHash
    case issuerCertificateExpired
    case issuerCertificateRevoked
    /// The issuer identifier is no prefix of the PAN.
    case issuerIdentifierMismatch
    case iccCertificateHash
    case iccCertificateExpired
    case panMismatch
    case signatureHash
    /// CDA: the CID inside the signature differs from the one in the clear.
    case cryptogramInformationMismatch
    case transactionDataHash
}
