// SPDX-License-Identifier: Apache-2.0
public import ReaderCore
public import ReaderModels

/// The readers that pcscd has now.
public enum PCSCReaders {
    /// One slot of a reader. A reader for cards with and without contacts has several.
    public struct Entry: Equatable, Sendable {
        public let identity: ReaderIdentity
        /// By the name; where that does not tell, `.contactless` if a contactless card lies on it.
        public let slot: PCSCReaderName.Slot
        /// Whether a card lies on it, as far as we have looked; it tells readers of one name apart.
        public let hasCard: Bool
        /// Whether some program is connected to that card.
        public let isInUse: Bool

        init(
            identity: ReaderIdentity, slot: PCSCReaderName.Slot, hasCard: Bool = false, isInUse: Bool = false
        ) {
            self.identity = identity
            self.slot = slot
            self.hasCard = hasCard
            self.isInUse = isInUse
        }
    }

    /// All slots in pcscd's order; none at all is a normal state.
    ///
    /// - Throws: `.serviceUnavailable` where pcscd does not run or refuses us, `.timedOut` where it does not answer.
    public static func list() throws(ReaderError) -> [Entry] {
        let callGuard = try CallGuard()
        do throws(PCSCFailure) {
            let context = try SmartCardContext(guardedBy: callGuard)
            return try callGuard.run(within: .service, severing: context.link) { () throws(PCSCFailure) in
                var entries: [Entry] = []
                for name in try context.readers() {
                    if let entry = try entry(PCSCReaderName(name), context) { entries.append(entry) }
                }
                return entries
            }
        } catch {
            throw error.readerError
        }
    }

    /// Opens the first contactless reader of that name which no other `PCSCReader` of this process has.
    ///
    /// - Parameters:
    ///   - text: part of the name, upper and lower case alike; empty for any reader.
    ///   - earlier: how many others want a reader of that name first. What is left when each of them has one is preferred, so that
    ///     readers are not swapped where several are opened at once.
    /// - Throws: `.serviceUnavailable`: `.unsuitableReader` where the name is that of slots for cards with contacts only,
    ///   `.unknownReader` where no reader of that name is there or left.
    public static func open(
        matching text: String = "", after earlier: Int = 0, feedback: FeedbackLevel = .lightsAndSound
    ) throws(ReaderError) -> PCSCReader {
        let found = try suitable(in: try list(), matching: text)
        let devices = found.dropFirst(max(0, earlier)) + found.prefix(max(0, earlier))
        guard let claim = ReaderClaim(firstOf: devices.map { $0.map(\.identity.name) }) else {
            throw .serviceUnavailable(.unknownReader)
        }
        return try PCSCReader(claim, matching: text, feedback: feedback)
    }

    /// Of each device of that name those slots that may be contactless, the devices that certainly have one first.
    ///
    /// A device of which one slot is known to be contactless has that one only. Of another one every slot that is not known
    /// to be of another kind may be it: a card tells.
    ///
    /// - Throws: `.unsuitableReader` where the name is that of slots for cards with contacts only, `.unknownReader` where
    ///   there is none.
    static func suitable(in entries: [Entry], matching text: String) throws(ReaderError) -> [[Entry]] {
        let matching = entries.filter { PCSCReaderName($0.identity.name).contains(text) }
        let names = matching.filter { $0.slot == .contactless || $0.slot == .unknown }
            .map { PCSCReaderName($0.identity.name) }
        let devices = PCSCReaderName.devices(of: names).map { device in
            let slots = matching.filter { entry in device.contains { $0.full == entry.identity.name } }
            let certain = slots.filter { $0.slot == .contactless }
            return certain.isEmpty ? slots : certain
        }
        guard !devices.isEmpty else {
            throw .serviceUnavailable(text.isEmpty || matching.isEmpty ? .unknownReader : .unsuitableReader)
        }
        let isCertain = { (slots: [Entry]) in slots.contains { $0.slot == .contactless } }
        return devices.filter(isCertain) + devices.filter { !isCertain($0) }
    }

    /// - Returns: `nil` where the reader has gone meanwhile.
    private static func entry(
        _ name: PCSCReaderName, _ context: borrowing SmartCardContext
    ) throws(PCSCFailure) -> Entry? {
        let identity = ReaderIdentity(name)
        // Nobody here uses such a slot, and a SAM that does not answer makes libpcsclite wait for 0.4 s.
        guard name.slot != .contact, name.slot != .sam else { return Entry(identity: identity, slot: name.slot) }
        do throws(PCSCFailure) {
            let state = try context.state(of: name.full, unless: .unaware, milliseconds: 0)
            let isContactless = name.slot == .unknown && ContactlessATR(state.atr) != nil
            return Entry(
                identity: identity, slot: isContactless ? .contactless : name.slot, hasCard: state.hasCard,
                isInUse: state.isInUse)
        } catch {
            guard error.meaning == .readerGone else { throw error }
            return nil
        }
    }
}

extension ReaderIdentity {
    init(_ name: PCSCReaderName) {
        self.init(name: name.full, model: name.model, driver: .pcsc, serial: name.serial)
    }
}
