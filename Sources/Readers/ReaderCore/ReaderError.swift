// SPDX-License-Identifier: Apache-2.0
/// What a reader could not do, by what the caller can do about it. Never carries card bytes.
public enum ReaderError: Error, Equatable, Sendable {
    /// Card gone, mute, reset, or its answer damaged. Present it again.
    case cardLost
    /// The deadline passed.
    case timedOut
    /// Somebody cancelled the wait.
    case cancelled
    /// The device is gone: unplugged, its process died, its service ended. Open it again once it is back.
    case detached
    /// Another program holds the reader or the card.
    case inUse
    /// The service behind the reader is not there (pcscd not running, worker program missing).
    case serviceUnavailable(ServiceFault)
    /// The reader answers, but with an error of its own; `code` is the driver's.
    case faulty(code: Int64)

    public enum ServiceFault: String, Sendable {
        case pcscdNotRunning, accessDenied, workerMissing, unknownReader
        /// The service runs, and is of another version than the library that this process has loaded.
        case otherVersion
        /// The reader is there, and its model or slot is known not to do what a contactless payment needs.
        case unsuitableReader
    }
}

extension ReaderError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .cardLost: "card lost"
        case .timedOut: "timed out"
        case .cancelled: "cancelled"
        case .detached: "reader detached"
        case .inUse: "another program uses the reader"
        case .serviceUnavailable(.pcscdNotRunning): "pcscd gives no connection: it does not run, or has no place left"
        case .serviceUnavailable(.otherVersion): "pcscd and this program's libpcsclite are of different versions"
        case .serviceUnavailable(.accessDenied): "access to the reader denied"
        case .serviceUnavailable(.workerMissing): "nfc-tap-libnfc-worker cannot be started"
        case .serviceUnavailable(.unknownReader): "reader not found"
        case .serviceUnavailable(.unsuitableReader): "reader cannot read contactless payment cards"
        case .faulty(let code): "reader error 0x\(String(UInt64(bitPattern: code), radix: 16))"
        }
    }
}
