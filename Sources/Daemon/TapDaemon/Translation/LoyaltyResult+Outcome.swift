// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Loyalty
import PaymentValues

extension LoyaltyResult {
    /// What the shop gets to see of an outcome; what was in passes goes to `secrets`, and a mark in its place.
    init(_ outcome: LoyaltyOutcome, of request: LoyaltyRequest, language: String?, _ secrets: inout SecretTexts) {
        let action = CustomerAction(outcome.customerAction)
        let names = Dictionary(
            request.programmes.map { ($0.id, $0.displayName) }, uniquingKeysWith: { first, _ in first })
        self.init(
            wallet: outcome.wallet.map { $0 == .apple ? .apple : .google }, customerAction: action,
            customerText: action.text(in: language),
            programmes: outcome.entries.map {
                Entry($0, displayName: names[$0.programme] ?? $0.programme, &secrets)
            })
    }
}

extension LoyaltyResult.Entry {
    fileprivate init(_ entry: LoyaltyOutcome.Entry, displayName: String, _ secrets: inout SecretTexts) {
        self.init(
            id: entry.programme, displayName: displayName, status: LoyaltyResult.Status(entry.status),
            statusWord: entry.status.statusWord.map { Hex.string($0.bytes) },
            pass: entry.pass.map { LoyaltyResult.Pass($0, &secrets) })
    }
}

extension LoyaltyResult.Pass {
    fileprivate init(_ pass: LoyaltyPass, _ secrets: inout SecretTexts) {
        switch pass {
        case .apple(let apple):
            switch apple.content {
            case .sealed: self.init(carrier: .apple, isAuthentic: false)
            case .opened: self.init(carrier: .apple, isAuthentic: true)
            }
        case .google(let objects, let isAuthentic):
            self.init(carrier: .google, isAuthentic: isAuthentic)
            self.objects = objects.map { LoyaltyResult.Object($0, &secrets) }
        case .tag: self.init(carrier: .tag, isAuthentic: false)
        case .uid: self.init(carrier: .uid, isAuthentic: false)
        }
        member = pass.member.map { secrets.mark($0, as: .text) }
        cryptogram = pass.cryptogram.map { Hex.string($0.bytes) }
        madeAt = pass.timestamp.map { Timestamp(milliseconds: $0.unixSeconds * 1_000) }
    }
}

extension LoyaltyResult.Object {
    fileprivate init(_ object: SmartTapObject, _ secrets: inout SecretTexts) {
        var values: [String: String] = [:]
        for value in object.values {
            switch value.field {
            case .objectID, .customerID, .tapID, .deviceID:
                values[value.field.rawValue] = secrets.mark(value.bytes, as: .hexadecimal)
            case .number, .pin, .track1, .track2, .language:
                values[value.field.rawValue] = secrets.mark(value.bytes, as: .text)
            }
        }
        self.init(kind: object.kind.rawValue, values: values)
    }
}

extension LoyaltyResult.CustomerAction {
    init(_ action: Loyalty.CustomerAction) {
        switch action {
        case .nothing: self = .nothing
        case .unlockPhone: self = .unlockPhone
        case .choosePass: self = .choosePass
        case .presentAgain: self = .presentAgain
        case .presentOneCardOnly: self = .presentOneCardOnly
        case .followSignUp: self = .followSignUp
        case .askStaff: self = .askStaff
        }
    }
}

extension LoyaltyResult.Status {
    fileprivate init(_ status: PassStatus) {
        switch status {
        case .delivered: self = .delivered
        case .signUpSent: self = .signUpSent
        case .noPass: self = .noPass
        case .locked: self = .locked
        case .choiceNeeded: self = .choiceNeeded
        case .unsupportedVersion: self = .unsupportedVersion
        case .refused: self = .refused
        case .authenticationFailed: self = .authenticationFailed
        case .transientFailure: self = .transientFailure
        case .busy: self = .busy
        case .unreadable: self = .unreadable
        case .tooOld: self = .tooOld
        case .clockOff: self = .clockOff
        case .repeated: self = .repeated
        case .unsuitable: self = .unsuitable
        case .keyMissing: self = .keyMissing
        case .unexpectedStatus: self = .unexpectedStatus
        case .cardLost: self = .cardLost
        case .notAsked: self = .notAsked
        }
    }
}

extension PassStatus {
    fileprivate var statusWord: StatusWord? {
        switch self {
        case .refused(let word), .authenticationFailed(let word), .transientFailure(let word),
            .unexpectedStatus(let word):
            word
        case .delivered, .signUpSent, .noPass, .locked, .choiceNeeded, .unsupportedVersion, .busy, .unreadable,
            .tooOld, .clockOff, .repeated, .unsuitable, .keyMissing, .cardLost, .notAsked:
            nil
        }
    }
}
