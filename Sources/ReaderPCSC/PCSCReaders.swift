// SPDX-License-Identifier: Apache-2.0
public import ReaderCore

/// The readers that pcscd has now.
public enum PCSCReaders {
    /// One slot of a reader. A reader for cards with and without contacts has several.
    public struct Entry: Equatable, Sendable {
        public let identity: ReaderIdentity
        /// By the name; where that does not tell, `.contactless` if a contactless card lies on it.
        public let slot: PCSCReaderName.Slot
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
                for name in try context.readers() { entries.append(try entry(PCSCReaderName(name), context)) }
                return entries
            }
        } catch {
            throw error.readerError
        }
    }

    /// Those entries of `entries` that can read contactless cards, the certain ones first.
    ///
    /// - Parameter text: part of the name, upper and lower case alike; empty for any reader.
    public static func contactless(in entries: [Entry], matching text: String = "") -> [Entry] {
        let wanted = text.lowercased()
        let matching = entries.filter { wanted.isEmpty || $0.identity.name.lowercased().contains(wanted) }
        return matching.filter { $0.slot == .contactless } + matching.filter { $0.slot == .unknown }
    }

    private static func entry(
        _ name: PCSCReaderName, _ context: borrowing SmartCardContext
    ) throws(PCSCFailure) -> Entry {
        var slot = name.slot
        if slot == .unknown {
            let state = try context.state(of: name.full, unless: .unaware, milliseconds: 0)
            if ContactlessATR(state.atr) != nil { slot = .contactless }
        }
        return Entry(identity: ReaderIdentity(name), slot: slot)
    }
}

extension ReaderIdentity {
    init(_ name: PCSCReaderName) {
        self.init(name: name.full, model: name.model, driver: .pcsc, serial: name.serial)
    }
}
