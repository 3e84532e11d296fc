// SPDX-License-Identifier: Apache-2.0
/// Where a reader behind pcscd can do something else than it should.
public enum IFDMoment: Hashable, Sendable {
    /// Each power-up and each reset of a card.
    case powerUp
    /// GET DATA with that P1 (PC/SC part 3, §3.2.2.1.3): 00 the UID, 01 the ATS.
    case getData(UInt8)
    /// The command of that number, from 1, that goes to a card since it lies there; those for the reader do not count.
    case command(Int)
    /// Whatever is for the reader itself: SCardControl.
    case escape
}

/// What a reader behind pcscd does then.
public enum IFDAction: Equatable, Sendable {
    /// The driver returns that code and no data.
    case code(IFDCode)
    /// These bytes, whatever card or reader would have said.
    case answer([UInt8])
    /// The right answer, that many milliseconds later.
    case late(milliseconds: UInt64)
    /// The card leaves before it has answered.
    case cardLeaves
    /// No answer before the card is taken away.
    case silence
}

/// What a driver's call returns (pcsc-lite's `ifdhandler.h`).
public enum IFDCode: UInt16, Sendable, CaseIterable {
    case success = 0
    case errorTag = 600
    case notSupported = 606
    case protocolNotSupported = 607
    case errorPowerAction = 608
    case communicationError = 612
    case responseTimeout = 613
    case controlNotSupported = 614
    case iccPresent = 615
    case iccNotPresent = 616
    case noSuchDevice = 617
}
