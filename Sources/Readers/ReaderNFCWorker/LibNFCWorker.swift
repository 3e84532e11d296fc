// SPDX-License-Identifier: Apache-2.0
import CNFC
import CardBytes
import ReaderCore
import ReaderNFC

/// The worker's side: reads requests from the socket and does them with libnfc, one after the other, on one thread.
///
/// Everything libnfc can do to a process happens here. The process holds card data: whoever starts this has hardened it.
public enum LibNFCWorker {
    /// Serves until the other side closes the socket or asks for the end.
    ///
    /// - Returns: the exit status: 0, or 1 where the other side cannot be understood.
    public static func run() -> Int32 {
        guard cnfc_end_with_parent() == 0 else { return 1 }
        let inbox = WorkerInbox(socket: WorkerProgram.socket)
        var device: LibNFCDevice?
        while true {
            do throws(WorkerProtocolError) {
                guard let frame = try inbox.next() else { return 0 }
                let request = try WorkerRequest(frame)
                // An abort that crossed the answer it was meant to hasten.
                if request == .abort { continue }
                guard inbox.send(answer(to: request, on: &device, inbox).frame(id: frame.id)) else { return 0 }
                if request == .close { return 0 }
            } catch {
                return 1
            }
        }
    }

    private static func answer(
        to request: WorkerRequest, on device: inout LibNFCDevice?, _ inbox: WorkerInbox
    ) -> WorkerAnswer {
        do throws(LibNFCError) {
            switch request {
            case .open(let connection):
                device = nil
                let opened = try LibNFCDevice(connection: connection)
                device = opened
                return .opened(chip: opened.chip)
            case .close:
                device = nil
                return .done
            case .poll, .transceive, .checkPresence, .release, .awaitRemoval, .abort:
                guard let device else { throw .notOpen }
                return try perform(request, on: device, inbox)
            }
        } catch {
            return .failed(error.failure, code: error.code)
        }
    }

    private static func perform(
        _ request: WorkerRequest, on device: LibNFCDevice, _ inbox: WorkerInbox
    ) throws(LibNFCError) -> WorkerAnswer {
        switch request {
        case .poll(let milliseconds, let broadcast):
            let presence = try device.poll(until: deadline(milliseconds), broadcast: broadcast) {
                inbox.wantsAttention(within: $0)
            }
            switch presence {
            case .card(let card): return .card(card)
            case .collision: return .collision
            case .emptied: return .emptied
            case .unreadable: return .unreadable
            }
        case .transceive(let command, let milliseconds):
            return .response(try device.transceive(command, milliseconds: milliseconds))
        case .checkPresence:
            return .present(try device.isCardPresent())
        case .release:
            device.release()
            return .done
        case .awaitRemoval(let milliseconds):
            try device.awaitRemoval(until: deadline(milliseconds)) { inbox.wantsAttention(within: $0) }
            return .done
        case .open, .close, .abort:
            return .done
        }
    }

    private static func deadline(_ milliseconds: UInt32) -> TapInstant {
        monotonicNow().advanced(byMilliseconds: UInt64(milliseconds))
    }
}
