// SPDX-License-Identifier: Apache-2.0
/// What decides whether a CVM rule applies (EMV Book 3 Annex C3, Table 44).
public struct CVMConditions: Equatable, Sendable {
    /// Minor units.
    public var amount: UInt64
    public var otherAmount: UInt64
    public var transactionType: TransactionType
    public var terminalType: TerminalType
    /// Whether 9F42 equals the transaction's currency.
    public var isApplicationCurrency: Bool
    /// Byte 2 of the Terminal Capabilities (9F33).
    public var capabilities: UInt8

    public init(
        amount: UInt64, otherAmount: UInt64, transactionType: TransactionType, terminalType: TerminalType,
        isApplicationCurrency: Bool, capabilities: UInt8
    ) {
        self.amount = amount
        self.otherAmount = otherAmount
        self.transactionType = transactionType
        self.terminalType = terminalType
        self.isApplicationCurrency = isApplicationCurrency
        self.capabilities = capabilities
    }

    /// Whether the terminal can do a method. PINs that the card checks need an insert and so cannot be done.
    public func supports(_ method: CVMMethod) -> Bool {
        switch method {
        case .fail: true
        case .onlinePIN: capabilities & 0x40 != 0
        case .signature: capabilities & 0x20 != 0
        case .noCVM: capabilities & 0x08 != 0
        case .plaintextPIN, .plaintextPINAndSignature, .encipheredPIN, .encipheredPINAndSignature: false
        }
    }

    /// Whether a rule's condition holds; an unknown condition does not. The amount stands on the left side of the
    /// comparisons; which side is unverified.
    func hold(for rule: CVMList.Rule, in list: CVMList) -> Bool {
        let isCashback = transactionType == .purchaseWithCashback || otherAmount > 0
        switch rule.condition {
        case 0x00: return true
        case 0x01: return terminalType.isUnattended && transactionType.isCash
        case 0x02: return !transactionType.isCash && !isCashback
        case 0x03: return CVMMethod(rawValue: rule.method).map { supports($0) } ?? false
        case 0x04: return terminalType.isAttended && transactionType.isCash
        case 0x05: return isCashback
        case 0x06: return isApplicationCurrency && amount < UInt64(list.x)
        case 0x07: return isApplicationCurrency && amount > UInt64(list.x)
        case 0x08: return isApplicationCurrency && amount < UInt64(list.y)
        case 0x09: return isApplicationCurrency && amount > UInt64(list.y)
        case _: return false
        }
    }
}
