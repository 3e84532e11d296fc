// SPDX-License-Identifier: Apache-2.0
import CardBytes
import FoundationEssentials
import Linux
import POSAPI
import PaymentValues
import ReaderCore
import ReaderVirtual
import TapClient

/// A daemon and a payment service that exist for one trial.
struct Stage {
    let folder: String
    private let service: ChildProgram
    private let daemon: ChildProgram

    var posSocket: String { folder + "/pos.sock" }
    private var readerSocket: String { folder + "/reader.sock" }
    /// The lane of a daemon with one virtual reader.
    static let lane = "main"

    init() throws(Failure) {
        do throws(SystemError) { folder = try FileSystem.makeTemporaryFolder("/tmp/nfc-tap-try-") } catch {
            throw Failure("cannot create a folder in /tmp", hint: "free space in /tmp", exitCode: .unavailable)
        }
        do throws(Failure) {
            service = try ChildProgram("nfc-tap-psp-sandbox", ["--sandbox", "--socket", folder + "/psp.sock"])
        } catch {
            try? FileManager.default.removeItem(atPath: folder)
            throw error
        }
        do throws(Failure) {
            // Without --config it is in test mode and knows nothing of this machine.
            daemon = try ChildProgram(
                "nfc-tapd",
                [
                    "--runtime-directory", folder, "--state-directory", folder + "/state", "--pos-socket",
                    folder + "/pos.sock", "--psp-socket", folder + "/psp.sock", "--virtual-reader",
                    folder + "/reader.sock",
                ])
        } catch {
            service.end()
            try? FileManager.default.removeItem(atPath: folder)
            throw error
        }
    }

    func end() {
        daemon.end()
        service.end()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Waits until a card could be taken, ten seconds at most.
    func ready(_ client: TapClient) async throws {
        for _ in 0..<200 {
            let status = try? await client.status()
            if let status, status.ready, status.psp.state == .up, status.mode == .test { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw Failure("test daemon not ready in time", hint: "run nfc-tap doctor", exitCode: .unavailable)
    }

    func present(_ card: String) throws(Failure) {
        let answer: String
        do throws(VirtualSocketError) {
            answer = try VirtualReaderSocket.send(
                "present \(card)", to: readerSocket, until: monotonicNow().advanced(byMilliseconds: 5_000))
        } catch {
            throw Failure(error.description, exitCode: .unavailable)
        }
        guard !answer.hasPrefix("error ") else {
            throw Failure(
                "unknown card \(card)", hint: "choose one from nfc-tap simulate --list", exitCode: .malformedInput)
        }
    }
}
