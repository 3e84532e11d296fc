// SPDX-License-Identifier: Apache-2.0
import PSPAPI

/// What the sandbox does with an amount, by its last two digits in minor units. Integrators choose the answer they want
/// to see by the amount they ask for.
enum AmountRule: Equatable, Sendable {
    case approve(responseCode: String)
    /// Half of the amount, rounded down.
    case approveHalf
    case decline(responseCode: String, action: AuthorizationAnswer.Action)
    case fault(Fault)

    /// Ways of not giving a proper answer.
    enum Fault: Int, Codable, Equatable, Sendable, CaseIterable {
        /// HTTP 500; nothing was authorised.
        case serverError = 93
        /// Approved, and the answer sent twice.
        case answersTwice = 94
        /// Approved, and the connection closed in the middle of the answer.
        case closesMidBody = 95
        /// Approved, and the answer is no JSON.
        case garbage = 96
        /// Approved after a while, within the time that a daemon waits.
        case slow = 97
        /// Approved, and never answered.
        case neverAnswers = 98
        /// Approved, and answered after the time that a daemon waits.
        case late = 99
    }

    init(minorUnits: Int64) {
        let digits = Int((minorUnits % 100).magnitude)
        if let fault = Fault(rawValue: digits) {
            self = .fault(fault)
            return
        }
        self =
            switch digits {
            case 1: .decline(responseCode: "01", action: .callIssuer)
            case 5: .decline(responseCode: "05", action: .none)
            case 8: .approve(responseCode: "08")
            case 10: .approveHalf
            case 12, 14, 41, 43, 51, 54, 55, 57, 61: .decline(responseCode: String(digits), action: .none)
            case 65: .decline(responseCode: "65", action: .useContact)
            case 70: .decline(responseCode: "70", action: .pinRequired)
            case 78: .decline(responseCode: "1A", action: .useContact)
            case 91: .decline(responseCode: "91", action: .tryAgain)
            default: .approve(responseCode: "00")
            }
    }
}
