// SPDX-License-Identifier: Apache-2.0
/// Whether a phone shows the right pass by itself on a reader, and why not where it does not: `features.passAutoSelect`.
///
/// Reading passes works on all of them; without the polling frame the user has to pick the pass on the phone first.
public enum PassAutoSelection: Equatable, Sendable {
    /// A PN53x that we poll through libnfc. Shown for the PN532 on a serial line; other PN53x chips are untested.
    case pollingFrames
    /// The reader's own firmware sends the frames.
    case readerFirmware
    case unavailable(Reason)

    public enum Reason: String, Sendable, CaseIterable {
        /// The reader's firmware polls by itself and PC/SC has no way to change what it sends.
        case readerPollsItself
        /// The chip cannot send a frame without waiting for an answer.
        case chipCannot
        /// No radio: a virtual or a replayed reader.
        case noRadio
    }

    /// The value of `features.passAutoSelect`.
    public var isAvailable: Bool {
        switch self {
        case .pollingFrames, .readerFirmware: true
        case .unavailable: false
        }
    }
}
