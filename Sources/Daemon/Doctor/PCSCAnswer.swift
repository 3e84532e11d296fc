// SPDX-License-Identifier: Apache-2.0
/// What pcscd said when we asked it for its readers.
public enum PCSCAnswer: Equatable, Sendable {
    /// Names of its readers, and of those among them whose card some program has.
    case readers([String], inUse: Set<String> = [])
    /// It refused us: polkit.
    case accessDenied
    case notRunning
    /// Runs, and speaks another version of the protocol than the libpcsclite of whoever asks.
    case otherVersion
    /// Nothing that says more: no answer in time, or we did not ask.
    case unknown
}
