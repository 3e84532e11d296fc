// SPDX-License-Identifier: Apache-2.0
import CPKCS11

/// What a module answered instead of CKR_OK.
struct TokenCode: Error, Equatable {
    let number: CK_RV

    /// What has to be made anew before the same is tried again.
    enum Loss {
        /// The session, or the login.
        case session
        /// The module has to look at its slots again.
        case module
    }

    static func check(_ number: CK_RV) throws(TokenCode) {
        guard number == CKR_OK else { throw TokenCode(number: number) }
    }

    /// `nil` where the same call would be answered in the same way.
    var loss: Loss? {
        switch Int(number) {
        case CKR_SESSION_HANDLE_INVALID, CKR_SESSION_CLOSED, CKR_USER_NOT_LOGGED_IN, CKR_OBJECT_HANDLE_INVALID,
            CKR_KEY_HANDLE_INVALID:
            .session
        case CKR_CRYPTOKI_NOT_INITIALIZED, CKR_DEVICE_REMOVED, CKR_DEVICE_ERROR, CKR_TOKEN_NOT_PRESENT,
            CKR_TOKEN_NOT_RECOGNIZED, CKR_SLOT_ID_INVALID, CKR_GENERAL_ERROR, CKR_FUNCTION_FAILED, CPKCS11_NO_TOKEN:
            .module
        default: nil
        }
    }

    /// Whether a key may not be used so: its attributes do not allow it.
    var isOfUse: Bool { Int(number) == CKR_KEY_FUNCTION_NOT_PERMITTED }

    /// Whether a key is not of the type that the mechanism wants.
    var isOfKeyType: Bool { Int(number) == CKR_KEY_TYPE_INCONSISTENT }

    /// Whether the PIN is what was refused.
    var isOfPIN: Bool {
        [
            CKR_PIN_INCORRECT, CKR_PIN_INVALID, CKR_PIN_LEN_RANGE, CKR_PIN_EXPIRED, CKR_PIN_LOCKED,
            CKR_USER_PIN_NOT_INITIALIZED,
        ].contains(Int(number))
    }

    /// Whether a mechanism, or its parameters, are not done here: SoftHSM 2.6.1 says "bad arguments" to OAEP with SHA-256.
    var isOfMechanism: Bool {
        [CKR_MECHANISM_INVALID, CKR_MECHANISM_PARAM_INVALID, CKR_ARGUMENTS_BAD, CKR_FUNCTION_NOT_SUPPORTED]
            .contains(Int(number))
    }
}

/// How work in a session ends other than well.
enum TokenFailure: Error {
    case code(TokenCode)
    case error(TokenError)
}
