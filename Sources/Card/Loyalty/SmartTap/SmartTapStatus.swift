// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// What a Smart Tap status word means. The first byte decides, the second informs.
///
/// The names of 93xx to 95xx come from public readers; their owner's own text for them is unverified.
public enum SmartTapStatus: Equatable, Sendable {
    /// 9000.
    case success
    /// 9001: only a customer record, or nothing.
    case successWithoutPass
    /// 9002: the signature was made before the session.
    case successPreSigned
    /// 9100: send GET MORE.
    case moreData
    /// 9101: a pass, but payment must not start.
    case notReadyForPayment
    /// 9102: no pass, and payment must not start.
    case notReadyForPaymentWithoutPass
    /// 9200 unknown, 9201 cryptography, 9203 execution: ask again.
    case transient
    /// 9300, and any other 93xx but 9302.
    case deviceLocked
    /// 9302: the phone shows its passes to choose from.
    case choiceShown
    /// 9406: wait until the phone has left the field.
    case tooManyRequests
    /// The other 94xx.
    case terminalError
    /// 9502.
    case versionNotSupported
    /// 9500, and any other 95xx: do not retry.
    case authenticationFailed
    /// 6A82.
    case noApplication
    case other

    public init(_ status: StatusWord) {
        switch (status.sw1, status.sw2) {
        case (0x90, 0x01): self = .successWithoutPass
        case (0x90, 0x02): self = .successPreSigned
        case (0x90, _): self = .success
        case (0x91, 0x00): self = .moreData
        case (0x91, 0x02): self = .notReadyForPaymentWithoutPass
        case (0x91, _): self = .notReadyForPayment
        case (0x92, _): self = .transient
        case (0x93, 0x02): self = .choiceShown
        case (0x93, _): self = .deviceLocked
        case (0x94, 0x06): self = .tooManyRequests
        case (0x94, _): self = .terminalError
        case (0x95, 0x02): self = .versionNotSupported
        case (0x95, _): self = .authenticationFailed
        case (0x6A, 0x82): self = .noApplication
        default: self = .other
        }
    }

    /// Whether the command did what it should, also where no pass came of it.
    public var isSuccess: Bool {
        switch self {
        case .success, .successWithoutPass, .successPreSigned, .notReadyForPayment, .notReadyForPaymentWithoutPass:
            true
        case .moreData, .transient, .deviceLocked, .choiceShown, .tooManyRequests, .terminalError,
            .versionNotSupported, .authenticationFailed, .noApplication, .other:
            false
        }
    }

    /// What `word`, of this meaning, says of the pass where the command failed.
    func passStatus(_ word: StatusWord) -> PassStatus {
        switch self {
        case .success, .successWithoutPass, .successPreSigned, .notReadyForPayment, .notReadyForPaymentWithoutPass,
            .noApplication:
            .noPass
        case .moreData, .other: .unexpectedStatus(word)
        case .transient: .transientFailure(word)
        case .deviceLocked: .locked
        case .choiceShown: .choiceNeeded
        case .tooManyRequests: .busy
        case .terminalError: .refused(word)
        case .versionNotSupported: .unsupportedVersion
        case .authenticationFailed: .authenticationFailed(word)
        }
    }

    /// What a payment in the same tap has to wait for. After 94xx and 95xx this is our choice: nothing is published.
    var paymentReadiness: PaymentReadiness {
        switch self {
        case .notReadyForPayment, .notReadyForPaymentWithoutPass, .tooManyRequests, .deviceLocked, .choiceShown:
            .afterRemoval
        case .success, .successWithoutPass, .successPreSigned, .moreData, .transient, .terminalError,
            .versionNotSupported, .authenticationFailed, .noApplication, .other:
            .sameActivation
        }
    }
}
