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
    private let descriptor = Mutex<Int32>(-1)
    private let removedAt = Mutex<TapInstant?>(nil)

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
        let earliest = removedAt.withLock { $0 }?.advanced(byMilliseconds: 900)
        serve(card, from: earliest ?? rigNow())
    }

    /// Puts `card` in the place of an earlier one without a gap.
    public func swap(_ card: any VirtualCard) {
        remove()
        serve(card, from: rigNow())
    }

    /// Takes the card out of the field.
    public func remove() {
        descriptor.withLock { descriptor in
            guard descriptor >= 0 else { return }
            _ = shutdown(descriptor, Int32(SHUT_RDWR))
            descriptor = -1
            removedAt.withLock { $0 = rigNow() }
        }
    }

    private func serve(_ card: any VirtualCard, from start: TapInstant) {
        Thread.detachNewThread { [port, namespace, weak self] in
            while rigNow() < start { usleep(1_000) }
            do throws(RigError) {
                try namespace?.enter()
                let descriptor = try VPCDStream.connect(port: port)
                self?.descriptor.withLock { $0 = descriptor }
                VPCDStream.serve(card, on: descriptor)
                self?.hasLeft(descriptor)
                _ = close(descriptor)
            } catch {
                // Whoever waits for the card sees that none comes.
                FileHandle.standardError.write(Data("vpcd card: \(error)\n".utf8))
            }
        }
    }

    private func hasLeft(_ left: Int32) {
        descriptor.withLock { descriptor in
            guard descriptor == left else { return }
            descriptor = -1
            removedAt.withLock { $0 = rigNow() }
        }
    }
}

/// Serves a card to vpcd on the calling thread until vpcd goes or the card leaves: the card side for a program of its
/// own inside `with-private-pcscd.sh`.
public func runVPCDCard(_ card: any VirtualCard, port: UInt16 = 35_963) throws(RigError) {
    let descriptor = try VPCDStream.connect(port: port)
    VPCDStream.serve(card, on: descriptor)
    _ = close(descriptor)
}
