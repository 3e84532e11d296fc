// SPDX-License-Identifier: Apache-2.0
/// Why a rig cannot work.
public enum RigError: Error, Equatable, Sendable {
    /// A system call failed with this `errno`.
    case system(String, Int32)
    case pathTooLong(String)
    /// pcscd knows 16 readers at most, each by another name.
    case noRoomForReader(String)
    case noSuchReader(String)
    /// What has to be installed or allowed before the rig can run.
    case unavailable(String)
}
