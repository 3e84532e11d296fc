// SPDX-License-Identifier: Apache-2.0
/// What a lane's reader may show and sound, as its owner wants it.
public enum FeedbackLevel: String, Sendable, CaseIterable {
    case lightsAndSound = "lights+sound"
    case lights
    /// Nothing is sent to the reader; its firmware shows what it shows.
    case off
}
