// SPDX-License-Identifier: Apache-2.0
/// What is known of a kind of reader before one is opened: how to address it, where to hold the card, what to expect.
///
/// Ids and limits are those that readers' own descriptors say. None of the readers was tried here: docs/shop/readers.md says
/// what that leaves open.
public struct ReaderModel: Equatable, Sendable {
    /// Through which service the daemon reaches it.
    public enum Backend: String, Sendable, CaseIterable {
        /// pcscd with libccid.
        case pcsc
        /// libnfc in a worker process.
        case libnfc
    }

    public enum Feature: String, Sendable, CaseIterable {
        /// Slots for cards with contacts, and for a SAM: readers of their own to PC/SC.
        case contactSlot, samSlot
        /// Takes extended APDUs. Payment cards are read with short ones.
        case extendedAPDU
        /// The host decides what is sent while polling, so that Apple's polling frames can be among it.
        case pollingFrames
    }

    /// Maker and model: `ACS ACR122U`.
    public let name: String
    /// Empty for boards behind a general USB-to-serial bridge, whose ids say nothing of the board.
    public let devices: [USBDeviceID]
    /// Parts of the names that drivers report it under. Upper case letters and digits only; see `ReaderModels.model`.
    let marks: [String]
    public let backend: Backend
    /// Where to hold the card, for the person in front of the reader. By shape and makers' drawings, not measured.
    public let antenna: String
    public let features: Set<Feature>
    public let quirks: Set<ReaderQuirk>
    public let indicator: ReaderIndicator
    /// Largest CCID message in bytes (`dwMaxCCIDMessageLength`), where a descriptor listing is known.
    public let largestMessage: Int?

    init(
        _ name: String, _ devices: [USBDeviceID], marks: [String], backend: Backend = .pcsc, antenna: String,
        features: Set<Feature> = [], quirks: Set<ReaderQuirk> = [], indicator: ReaderIndicator = .none,
        largestMessage: Int? = nil
    ) {
        self.name = name
        self.devices = devices
        self.marks = marks
        self.backend = backend
        self.antenna = antenna
        self.features = features
        self.quirks = quirks
        self.indicator = indicator
        self.largestMessage = largestMessage
    }
}
