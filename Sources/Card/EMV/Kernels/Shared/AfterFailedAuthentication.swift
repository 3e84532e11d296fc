// SPDX-License-Identifier: Apache-2.0
/// What comes after offline data authentication that failed, in kernels 3 and 7 (C-3 5.6).
enum AfterFailedAuthentication {
    case online
    case switchInterface
    case decline

    /// - Parameter qualifiers: the card's wish; without one it is declined.
    init(_ qualifiers: CTQ?, _ terminal: TTQ) {
        if qualifiers?.goesOnlineIfODAFails == true, !terminal.isOfflineOnly {
            self = .online
        } else if qualifiers?.switchesInterfaceIfODAFails == true, terminal.supportsContactChip {
            self = .switchInterface
        } else {
            self = .decline
        }
    }
}
