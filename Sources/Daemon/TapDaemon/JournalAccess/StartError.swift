// SPDX-License-Identifier: Apache-2.0
public import Journal
import Linux
public import LocalHTTP
public import ReaderCore

/// What keeps the daemon from starting, or ends it.
public enum StartError: Error, Equatable, Sendable {
    case stateDirectory(String, errno: Int32)
    case journal(JournalError)
    case socket(ListenError)
    case lane(String, ReaderError)
    case installationKey(InstallationKeyError)
    /// Journal or key is missing, damaged, or not the other's.
    case books(JournalFault)

    /// What to do about it, where that is known.
    public var remedy: String? {
        switch self {
        case .books(let trouble): trouble.remedy
        case .journal(.inUse): "stop the daemon that works with it"
        case .journal(.full): "free space on its disk"
        case .stateDirectory, .journal, .socket, .lane, .installationKey: nil
        }
    }
}

extension StartError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .stateDirectory(let path, let errno):
            "cannot create the state directory \(path): \(SystemError(code: errno).remedy)"
        case .journal(let error): error.description
        case .socket(let error): error.description
        case .lane(let name, let error): "lane \(name): \(error)"
        case .installationKey(let error): error.description
        case .books(let trouble): trouble.description
        }
    }
}
