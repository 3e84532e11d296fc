// SPDX-License-Identifier: Apache-2.0
public import Envelope
public import HSM
import Linux
public import PaymentValues
public import Profile

/// Why nothing is signed.
public enum IssuingError: Error, Equatable, Sendable {
    /// A file, as errno(3).
    case file(String, errno: Int32)
    case notJSON(String)
    /// What a daemon would refuse.
    case profile(ProfileError)
    /// Not valid for 2 to 35 days.
    case lifetime(days: Int64)
    /// Recipient keys that no till would seal to.
    case refusedKeys([RecipientKeySet.Refusal])
    /// A profile for live cards with this test key.
    case testKey(String)
    /// Nobody has shown that envelopes for this key can be opened.
    case recipientNotProven(String)
    /// A member that stands in the list of merchants must not be in the template.
    case memberOfTemplate(String)
    /// The line, from 1, and what is wrong with it.
    case merchantList(Int, String)
    /// A merchant whose name is no name for a folder.
    case merchantName(String)
    case noProfile(merchant: String)
    /// The last profile was issued later than now: the clock has gone back.
    case clock(last: Timestamp)
    case serialUsed(UInt64)
    case storeInUse
    case key(RecipientKeyError)
    case token(TokenError)
    case untrusted(JWSError)
    /// The batch is not what the installation's key has signed, or is of another installation.
    case batch
}

extension IssuingError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .file(let path, let code):
            "\(path) cannot be read or written: \(SystemError(code: code).remedy)"
        case .notJSON(let what): "\(what) is not JSON, or has a member twice, a fraction or null in it"
        case .profile(let error): "\(error)"
        case .lifetime(let days): "expiresAt: valid for \(days) days; a profile is valid for 2 to 35 days"
        case .refusedKeys(let refusals):
            refusals.map { "recipientKeys.\($0)" }.joined(separator: "\n")
                + "\ntills pass such keys over and seal to the others; correct them, or say --allow-refused-keys"
        case .testKey(let name): "\(name) is a test key, and the profile is for live cards: use a key of your own"
        case .recipientNotProven(let name):
            "recipientKeys: nobody has shown that what is sealed to \(name) can be opened; name its token or its file, or say "
                + "--recipients-elsewhere"
        case .memberOfTemplate(let name): "\(name): comes from the list of merchants; take it out of the template"
        case .merchantList(let line, let what): "line \(line) of the list: \(what)"
        case .merchantName(let name):
            "merchant.id \(name.debugDescription): is a folder's name here; use letters, digits, -, _ and ., at most 64"
        case .noProfile(let merchant): "there is no profile of \(merchant) here; sign one first"
        case .clock(let last):
            "the last profile was issued at \(last), which is in the future: set this machine's clock"
        case .serialUsed(let serial): "serial \(serial) was used; use next, or a higher number"
        case .storeInUse: "another nfc-tap-profile is at work in this folder; wait until it has ended"
        case .key(let error): "\(error)"
        case .token(let error): "\(error)"
        case .untrusted(let error): "\(error)"
        case .batch: "the batch was altered, or another installation has signed it"
        }
    }
}
