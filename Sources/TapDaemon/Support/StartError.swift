// SPDX-License-Identifier: Apache-2.0
public import Journal
public import LocalHTTP
public import ReaderCore

/// What keeps the daemon from starting, or ends it.
public enum StartError: Error, Equatable, Sendable {
    case stateDirectory(String, errno: Int32)
    case journal(JournalError)
    case socket(ListenError)
    case lane(String, ReaderError)
    case installationKey(InstallationKeyError)
}

extension StartError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .stateDirectory(let path, let errno):
            "cannot create the state directory \(path) (errno \(errno)): create it for the daemon's user"
        case .journal(let error): error.description
        case .socket(let error): error.description
        case .lane(let name, let error): "lane \(name): \(error)"
        case .installationKey(let error): error.description
        }
    }
}
