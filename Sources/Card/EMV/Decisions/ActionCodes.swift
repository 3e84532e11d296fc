// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Terminal and issuer action codes and the decision they lead to.
public struct ActionCodes: Equatable, Sendable {
    public var terminalDenial: TVR
    public var terminalOnline: TVR
    public var terminalDefault: TVR
    /// 9F0E, 9F0F and 9F0D; `nil` where the card has none.
    public var issuerDenial: TVR?
    public var issuerOnline: TVR?
    public var issuerDefault: TVR?

    public init(
        terminalDenial: TVR, terminalOnline: TVR, terminalDefault: TVR, issuerDenial: TVR? = nil,
        issuerOnline: TVR? = nil, issuerDefault: TVR? = nil
    ) {
        self.terminalDenial = terminalDenial
        self.terminalOnline = terminalOnline
        self.terminalDefault = terminalDefault
        self.issuerDenial = issuerDenial
        self.issuerOnline = issuerOnline
        self.issuerDefault = issuerDefault
    }

    /// Terminal action codes as configured for kernel 2, whose tags kernels 4 and 5 share here; issuer action codes
    /// from the card.
    public init(_ store: DataStore) {
        self.init(
            terminalDenial: store.bits(.terminalActionCodeDenial),
            terminalOnline: store.bits(.terminalActionCodeOnline),
            terminalDefault: store.bits(.terminalActionCodeDefault),
            issuerDenial: store.value(.issuerActionCodeDenial).flatMap { TVR($0) },
            issuerOnline: store.value(.issuerActionCodeOnline).flatMap { TVR($0) },
            issuerDefault: store.value(.issuerActionCodeDefault).flatMap { TVR($0) })
    }

    /// Terminal action analysis of kernels 4 and 5 and of contact EMV (EMV Book 3 §10.7). A missing issuer code stands
    /// for nothing (denial) or everything (online, default).
    public func decide(_ tvr: TVR, _ type: TerminalType) -> ApplicationCryptogram {
        let all = TVR(rawValue: .max)
        if !tvr.isDisjoint(with: terminalDenial.union(issuerDenial ?? [])) { return .aac }
        if type.isOnlineOnly { return .arqc }
        if type.isOfflineOnly {
            return tvr.isDisjoint(with: terminalDefault.union(issuerDefault ?? all)) ? .tc : .aac
        }
        return tvr.isDisjoint(with: terminalOnline.union(issuerOnline ?? all)) ? .tc : .arqc
    }
}

extension DataStore {
    /// A TVR or an action code; nothing where it is absent or has another length than five bytes.
    func bits(_ tag: Tag) -> TVR { value(tag).flatMap { TVR($0) } ?? [] }
}
