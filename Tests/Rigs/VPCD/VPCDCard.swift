// SPDX-License-Identifier: Apache-2.0
import CardBytes
public import CardSim
import Foundation
import Synchronization

/// A card for one slot of the vpcd driver: a client of the TCP port on which the slot waits.
///
/// Inserting is connecting, removing is closing. pcscd looks for cards every 400 ms: one that takes another's place
/// between two looks is not seen as another, and after a power-down in that moment not seen at all.
public final class VPCDCard: Sendable {
    private let port: UInt16
    private let namespace: NetworkNamespace?
    private struct Slot {
        /// Counts what was put in and taken out: a card that is still on its way in is known by it.
        var changes = 0
        var descriptor: Int32 = -1
        var removedAt: TapInstant?
    }

    private let slot = Mutex(Slot())

    /// - Parameters:
    ///   - port: the slot's: the stanza's port for slot 00, one more for slot 01.
    ///   - namespace: where the port is; `nil` for this process's own.
    public init(port: UInt16, in namespace: NetworkNamespace? = nil) {
        self.port = port
        self.namespace = namespace
    }

    deinit { remove() }

    /// Serves `card` on a thread of its own until `remove` or until vpcd goes. Takes the place of an earlier card, after
    /// a gap that pcscd cannot overlook.
    public func insert(_ card: any VirtualCard) {
        remove()
        let earliest = slot.withLock { $0.removedAt }?.advanced(byMilliseconds: 900)
        serve(card, from: earliest ?? rigNow())
    }

    /// Puts `card` in the place of an earlier one without a gap.
    public func swap(_ card: any VirtualCard) {
        remove()
        serve(card, from: rigNow())
    }

    /// Takes the card out of the field, or keeps it out if it is still on its way in.
    public func remove() {
        slot.withLock { slot in
            slot.changes += 1
            guard slot.descriptor >= 0 else { return }
            _ = shutdown(slot.descriptor, Int32(SHUT_RDWR))
            slot.descriptor = -1
            slot.removedAt = rigNow()
        }
    }

    private func serve(_ card: any VirtualCard, from start: TapInstant) {
        let number = slot.withLock { $0.changes }
        Thread.detachNewThread { [port, namespace, weak self] in
            while rigNow() < start { usleep(1_000) }
            do throws(RigError) {
                try namespace?.enter()
                let connected = try VPCDStream.connect(port: port) { self?.slot.withLock { $0.changes } == number }
                guard let descriptor = connected else { return }
                if self?.hasCome(descriptor, number) == true { VPCDStream.serve(card, on: descriptor) }
                self?.hasLeft(descriptor)
                _ = close(descriptor)
            } catch {
                // Whoever waits for the card sees that none comes.
                FileHandle.standardError.write(Data("vpcd card: \(error)\n".utf8))
            }
        }
    }

    private func hasCome(_ descriptor: Int32, _ number: Int) -> Bool {
        slot.withLock { slot in
            guard slot.changes == number else { return false }
            slot.descriptor = descriptor
            return true
        }
    }

    private func hasLeft(_ left: Int32) {
        slot.withLock { slot in
            guard slot.descriptor == left else { return }
            slot.descriptor = -1
            slot.removedAt = rigNow()
        }
    }
}

/// Serves a card to vpcd on the calling thread until vpcd goes or the card leaves: the card side for a program of its
/// own inside `with-private-pcscd.sh`.
public func runVPCDCard(_ card: any VirtualCard, port: UInt16 = 35_963) throws(RigError) {
    guard let descriptor = try VPCDStream.connect(port: port, while: { true }) else { return }
    VPCDStream.serve(card, on: descriptor)
    _ = close(descriptor)
}
