// SPDX-License-Identifier: Apache-2.0
/// What a reader does that one would not expect of it.
public enum ReaderQuirk: String, Sendable, CaseIterable {
    /// libnfc's own USB driver loses answers of more than 250 bytes, and what comes after them. Use PC/SC.
    case shortAnswersInLibNFC
    /// The kernel module `pn533_usb` binds it, and then neither pcscd nor libnfc can open it.
    case claimedByKernel
    /// Not in libccid's list of Debian 12. It is driven all the same, as every device of USB class 0B.
    case foundByClass
    /// Nothing is known of it here but the name and the USB id in libccid's list.
    case knownByName
    /// The same USB id is that of a reader without an antenna.
    case sharesDeviceID
    /// Some firmware versions of it lose answers or hang until they are unplugged.
    case unreliableFirmware
    /// Exchanges at TPDU level in small pieces: libccid splits every APDU, and each costs more turns on the bus.
    case smallMessages
    /// Several PC/SC readers of one device: choose the contactless one by name.
    case severalSlots
    /// Shown without a name of its own, under that of its USB bridge.
    case behindSerialBridge
    /// Nothing keeps a second program off the serial line.
    case sharedSerialLine
    /// Where its driver is killed, the field stays on until the device is opened again.
    case fieldStaysOn

    /// One sentence for the person who has the reader.
    public var explanation: String {
        switch self {
        case .shortAnswersInLibNFC: "Use it through PC/SC: libnfc's driver fails on card answers over 250 bytes."
        case .claimedByKernel: "The kernel module pn533_usb takes it away; keep that module from loading."
        case .foundByClass: "Debian 12's libccid finds it by its USB class, not by its id."
        case .knownByName: "Only its name and USB id are known here, from the list of Debian's libccid."
        case .sharesDeviceID: "A reader without an antenna has the same USB id."
        case .unreliableFirmware: "Some firmware versions hang; unplug it, and prefer another reader for a shop."
        case .smallMessages: "It moves 64 bytes at a time, so that a tap takes longer."
        case .severalSlots: "pcscd shows one reader for each slot; choose the contactless one."
        case .behindSerialBridge: "It shows as a serial port: name the port in the configuration."
        case .sharedSerialLine: "Nothing keeps other programs off the serial port; keep modem managers away from it."
        case .fieldStaysOn: "Its field may stay on after a crash until it is opened again."
        }
    }
}
