// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Everything that makes one `PaymentCard` differ from another.
public struct CardProfile: Sendable {
    /// A card of type A with a random-looking UID, as phones and bank cards have it.
    public static let typeA = CardActivation(
        technology: .typeA, uid: [0x08, 0x4E, 0x46, 0x43],
        answerToSelect: [0x78, 0x80, 0x80, 0x02, 0x4E, 0x46, 0x43],
        atr: [0x3B, 0x83, 0x80, 0x01, 0x4E, 0x46, 0x43, 0x48], sak: 0x20)

    /// A card of type B.
    public static let typeB = CardActivation(
        technology: .typeB, uid: [0x4E, 0x46, 0x43, 0x42], answerToSelect: [0x00, 0x81, 0x71],
        atr: [0x3B, 0x88, 0x80, 0x01, 0, 0, 0, 0, 0, 0x81, 0x71, 0, 0xF9])

    public var activation: CardActivation
    /// The PPSE's entries in their order; `nil` for a card without PPSE.
    public var directory: [DirectoryEntry]?
    public var applications: [any PaymentApplication]
    /// Looked at in this order; the first that fits decides.
    public var oddities: [CardOddity]
    /// Pause before every answer, as a card with a slow coprocessor makes it.
    public var pauseMilliseconds: UInt64

    public init(
        activation: CardActivation = typeA, directory: [DirectoryEntry]?, applications: [any PaymentApplication],
        oddities: [CardOddity] = [], pauseMilliseconds: UInt64 = 0
    ) {
        self.activation = activation
        self.directory = directory
        self.applications = applications
        self.oddities = oddities
        self.pauseMilliseconds = pauseMilliseconds
    }
}
