// SPDX-License-Identifier: Apache-2.0
/// How a terminal presents itself in Smart Tap.
public struct SmartTapTerminal: Equatable, Sendable {
    public enum Authentication: Equatable, Sendable {
        /// The phone's nonce is signed.
        case live
        /// Zeros are signed in its place, so that the signature can be made beforehand. Which nonce then enters the
        /// key derivation is unverified; the phone's own is used, as public readers do.
        case preSigned
    }

    /// What the `pcr` record says; `nil` leaves the record out.
    public var capabilities: SmartTapCapabilities?
    public var authentication: Authentication
    /// Send the second SELECT also where the phone says that it may be left out.
    public var alwaysSelects: Bool
    /// So often is a command repeated that failed for a passing reason (92xx).
    public var retries: Int

    public init(
        capabilities: SmartTapCapabilities? = SmartTapCapabilities(mode: .passOnly),
        authentication: Authentication = .live, alwaysSelects: Bool = false, retries: Int = 1
    ) {
        self.capabilities = capabilities
        self.authentication = authentication
        self.alwaysSelects = alwaysSelects
        self.retries = retries
    }
}

/// The five bytes of the `pcr` record.
public struct SmartTapCapabilities: Equatable, Sendable {
    public var system: UInt8
    public var userInterface: UInt8
    public var checkout: UInt8
    public var cardholderVerification: UInt8
    public var mode: UInt8

    public init(
        system: UInt8, userInterface: UInt8 = 0, checkout: UInt8 = 0, cardholderVerification: UInt8 = 0, mode: UInt8
    ) {
        self.system = system
        self.userInterface = userInterface
        self.checkout = checkout
        self.cardholderVerification = cardholderVerification
        self.mode = mode
    }

    /// A standalone terminal that takes compressed bundles.
    ///
    /// The pairing of modes is inferred: "or" is taken for "pass over payment".
    public init(mode: CapabilityMode) {
        let code: UInt8 =
            switch mode {
            case .passOnly: 0x01
            case .paymentOnly: 0x02
            case .passAndPayment: 0x04
            case .passOrPayment: 0x08
            }
        self.init(system: SmartTapCapabilities.standalone | SmartTapCapabilities.compression, mode: code)
    }

    public static let standalone: UInt8 = 0x01
    public static let semiIntegrated: UInt8 = 0x02
    public static let unattended: UInt8 = 0x04
    public static let online: UInt8 = 0x08
    public static let offline: UInt8 = 0x10
    public static let compression: UInt8 = 0x40

    public var bytes: [UInt8] { [system, userInterface, checkout, cardholderVerification, mode] }
}
