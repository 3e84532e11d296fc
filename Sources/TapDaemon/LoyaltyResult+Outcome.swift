import CardBytes
import Loyalty
import Wire

extension LoyaltyResult {
    /// What the shop gets to see of an outcome. From here on passes are ordinary memory, for as long as `PassKeeping`
    /// says.
    init(_ outcome: LoyaltyOutcome, of request: LoyaltyRequest, language: String?) {
        let action = CustomerAction(outcome.customerAction)
        let names = Dictionary(
            request.programmes.map { ($0.id, $0.displayName) }, uniquingKeysWith: { first, _ in first })
        self.init(
            wallet: outcome.wallet.map { $0 == .apple ? .apple : .google }, customerAction: action,
            customerText: action.text(in: language),
            programmes: outcome.entries.map { Entry($0, displayName: names[$0.programme] ?? $0.programme) })
    }
}

extension LoyaltyResult.Entry {
    fileprivate init(_ entry: LoyaltyOutcome.Entry, displayName: String) {
        self.init(
            id: entry.programme, displayName: displayName, status: LoyaltyResult.Status(entry.status),
            statusWord: entry.status.statusWord.map { Hex.string($0.bytes) },
            pass: entry.pass.map { LoyaltyResult.Pass($0) })
    }
}

extension LoyaltyResult.Pass {
    fileprivate init(_ pass: LoyaltyPass) {
        switch pass {
        case .apple(let apple):
            switch apple.content {
            case .sealed: self.init(carrier: .apple, isAuthentic: false)
            case .opened: self.init(carrier: .apple, isAuthentic: true)
            }
        case .google(let objects, let isAuthentic):
            self.init(carrier: .google, isAuthentic: isAuthentic)
            self.objects = objects.map { LoyaltyResult.Object($0) }
        case .tag: self.init(carrier: .tag, isAuthentic: false)
        case .uid: self.init(carrier: .uid, isAuthentic: false)
        }
        member = pass.member.map { $0.text }
        cryptogram = pass.cryptogram.map { Hex.string($0.bytes) }
        madeAt = pass.timestamp.map { Timestamp(milliseconds: $0.unixSeconds * 1_000) }
    }
}

extension LoyaltyResult.Object {
    fileprivate init(_ object: SmartTapObject) {
        var values: [String: String] = [:]
        for value in object.values {
            switch value.field {
            case .objectID, .customerID, .tapID, .deviceID: values[value.field.rawValue] = value.bytes.hexadecimal
            case .number, .pin, .track1, .track2, .language: values[value.field.rawValue] = value.bytes.text
            }
        }
        self.init(kind: object.kind.rawValue, values: values)
    }
}

extension SecretBytes {
    fileprivate var text: String {
        withSpan { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
    }

    fileprivate var hexadecimal: String { withSpan { bytes in Hex.string(bytes.indices.map { bytes[$0] }) } }
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
        case .outOfTime: self = .outOfTime
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
            .outOfTime, .repeated, .unsuitable, .keyMissing, .cardLost, .notAsked:
            nil
        }
    }
}
