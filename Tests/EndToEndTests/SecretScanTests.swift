// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import Rigs
import TestSupport
import Testing

@testable import CardSim

/// What the daemon still knows of the cards that it has read. The cards are in this process, behind a pcscd that it
/// plays, so that the daemon has no other way to their numbers than a tap; the numbers are new in each run, so that no
/// constant of a program can be taken for one.
@Suite(.serialized)
struct SecretScanTests {
    private static let reader = "ACS ACR122U PICC Interface 00 00"
    private let taps = ProcessInfo.processInfo.environment["NFC_TAP_TAPS"].flatMap(Int.init) ?? 50

    /// Cards whose numbers are only here.
    private struct Wallet {
        let cards: [PaymentCard]
        /// Card numbers and track 2, a line each.
        let secrets: String

        init() {
            let visa = CardPersonalisation(pan: Wallet.number("476173"))
            let records = CardPersonalisation(pan: Wallet.number("476173"))
            let mastercard = CardPersonalisation(pan: Wallet.number("541333"))
            cards = [
                CardCatalogue.card(VisaApplication.personalised(visa)),
                CardCatalogue.card(
                    VisaApplication.personalised(records, disposition: .alwaysOnline, fastDDA: .version01)),
                CardCatalogue.card(GenerateACApplication.personalised(mastercard)),
                CardCatalogue.card(GenerateACApplication.personalised(mastercard, signsCombined: false)),
            ]
            secrets = [visa, records, mastercard].map { card in
                let number = card.pan.map(String.init).joined()
                var track = Hex.string(card.track2)
                while track.hasSuffix("F") { track.removeLast() }
                return "\(number)\n\(track)\n\(track.dropFirst(12))\n"
            }.joined()
        }

        /// Sixteen digits that end with the right check digit (ISO/IEC 7812-1 annex B).
        private static func number(_ issuer: String) -> String {
            var digits = issuer.compactMap(\.wholeNumberValue)
            while digits.count < 15 { digits.append(Int.random(in: 0...9)) }
            let sum = digits.reversed().enumerated().reduce(0) { sum, digit in
                let value = digit.offset.isMultiple(of: 2) ? digit.element * 2 : digit.element
                return sum + value / 10 + value % 10
            }
            return (digits + [(10 - sum % 10) % 10]).map(String.init).joined()
        }
    }

    @Test("Requirements 40 and 60, §10.3, acceptance test 12: after many taps no card number or track 2 is anywhere")
    func scanned() throws {
        let rig = FakePCSCD(path: NSTemporaryDirectory() + "/scan-\(UUID().uuidString.prefix(8)).comm")
        try rig.start()
        defer { rig.die() }
        try rig.plug(Self.reader)
        let shop = try Shop(
            reader: "pcsc:\(Self.reader)", environment: ["PCSCLITE_CSOCK_NAME": rig.path], startsSandbox: false)
        try shop.startCapturedSandbox()
        try shop.awaitReader()
        let wallet = Wallet()
        var approved = 0
        for number in 0..<taps {
            try rig.insert(wallet.cards[number % wallet.cards.count], into: Self.reader)
            let state = try pay(shop, number)
            if state == "approved" { approved += 1 }
            try rig.remove(from: Self.reader)
        }
        #expect(approved == taps)
        let inFiles = try scan(shop.folder.path, wallet.secrets)
        #expect(inFiles == nil, "files, logs, journal and what passed the sockets")
        let inMemory = try scan("\(try #require(shop.daemonProcess))", wallet.secrets)
        #expect(inMemory == nil, "the daemon's memory after \(taps) taps")
    }

    @Test(
        "Row 24 of the guidance: a customer's address is in no file, log or journal, and passes to the service sealed only"
    )
    func addresses() throws {
        let shop = try Shop(startsSandbox: false)
        try shop.startCapturedSandbox()
        try shop.awaitReader()
        let name = "scan\(UUID().uuidString.prefix(8).lowercased())"
        let phone = (0..<14).map { _ in String(Int.random(in: 1...9)) }.joined()
        let id = try startAndCancel(shop)
        try shop.eventually("the service has said that it sends receipts") {
            try shop.curl(["http://localhost/v1/status"]).contains(#""sendsReceipts":true"#)
        }
        for address in [#"{"email":"\#(name)@example.com"}"#, #"{"phone":"+\#(phone)"}"#, #"{"email":"\#(name)@"}"#] {
            let answer = try shop.curl([
                "http://localhost/v1/transactions/\(id)/receipt", "-H", "Content-Type: application/json", "-d", address,
            ])
            #expect(answer.isEmpty || answer.contains("request.invalid_field"), "\(answer)")
        }
        #expect(try scan(shop.folder.path, phone + "\n") == nil)
        var seen = 0
        for path in try FileManager.default.subpathsOfDirectory(atPath: shop.folder.path) {
            guard let bytes = try? Data(contentsOf: shop.folder.appending(path: path)) else { continue }
            seen += 1
            #expect(bytes.range(of: Data(name.utf8)) == nil, "\(path)")
        }
        #expect(seen > 3)
    }

    /// A sale that ends without a card has a receipt, too.
    private func startAndCancel(_ shop: Shop) throws -> String {
        let text = try shop.curl([
            "http://localhost/v1/transactions", "-H", "Content-Type: application/json", "-H",
            "Idempotency-Key: address",
            "-d", #"{"type":"purchase","amount":{"value":1000,"currency":"EUR"},"detached":true}"#,
        ])
        let id = try #require(
            (try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])?["id"] as? String)
        _ = try shop.curl(["-X", "DELETE", "http://localhost/v1/transactions/\(id)"])
        try shop.eventually("it is cancelled") {
            try shop.curl(["http://localhost/v1/transactions/\(id)"]).contains(#""state":"cancelled""#)
        }
        return id
    }

    /// Holds a program in the moment in which it has ended, but for its memory.
    private static let holder = """
        #include <fcntl.h>
        #include <stdlib.h>
        #include <unistd.h>
        __attribute__((destructor)) static void hold(void) {
            const char *path = getenv("AT_EXIT");
            if (path == NULL) { return; }
            close(open(path, O_CREAT | O_WRONLY, 0600));
            for (;;) { pause(); }
        }
        """

    @Test("B1 a command that has read a card holds nothing of it when it ends, and may leave no core dump")
    func commands() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "b\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let library = folder.appending(path: "hold.so").path
        let source = folder.appending(path: "hold.c")
        try Self.holder.write(to: source, atomically: true, encoding: .utf8)
        try Peer.compile(source.path, to: library)
        let rig = FakePCSCD(path: folder.path + "/scan.comm")
        try rig.start()
        defer { rig.die() }
        try rig.plug(Self.reader)
        let wallet = Wallet()
        for (number, words) in [["read"], ["read", "--all", "--json"], ["record", folder.path + "/a.tap"]].enumerated()
        {
            try rig.insert(wallet.cards[number], into: Self.reader)
            let end = folder.appending(path: "end-\(number)").path
            let process = try Program.tap.launch(
                words + ["--reader", "pcsc:\(Self.reader)"], in: folder,
                environment: ["PCSCLITE_CSOCK_NAME": rig.path, "LD_PRELOAD": library, "AT_EXIT": end])
            let isHeld = { FileManager.default.fileExists(atPath: end) }
            for _ in 0..<4_500 where !isHeld() && process.isRunning { usleep(20_000) }
            #expect(isHeld(), "\(words)")
            let limits = try String(contentsOfFile: "/proc/\(process.processIdentifier)/limits", encoding: .utf8)
            #expect(limits.contains(#/Max core file size +0 +0 /#))
            #expect(try scan("\(process.processIdentifier)", wallet.secrets) == nil, "\(words)")
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            try rig.remove(from: Self.reader)
        }
    }

    @Test func `the scan finds a number in the memory of a process that has it`() throws {
        let number = (0..<16).map { _ in String(Int.random(in: 0...9)) }.joined()
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "python3", "-c", "import sys; n = sys.stdin.readline(); print('ready', flush=True); sys.stdin.readline()",
        ]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data("\(number)\n".utf8))
        _ = try output.fileHandleForReading.read(upToCount: 5)
        let found = try scan("\(process.processIdentifier)", number)
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        #expect(found?.contains("digits") == true)
    }

    @Test func `the scan finds a number in Base64 wherever it stands, and none in ciphertext that has none`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "scan-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "capture")
        // SplitMix64 by its definition: as good as ciphertext, and the same in every run.
        var state: UInt64 = 1
        let noise = (0..<400_000).map { _ in
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
            return UInt8(truncatingIfNeeded: word ^ word >> 31)
        }
        let number = "4761739001010010"
        try Data(noise).base64EncodedData().write(to: file)
        #expect(try scan(folder.path, number) == nil)
        for shift in 0..<3 {
            for secret in [Array(number.utf8), try Hex.bytes(number), try Hex.bytes("5" + number + "3")] {
                let text = Array(noise.prefix(300 + shift)) + secret + Array(noise.suffix(300))
                try Data(text).base64EncodedData().write(to: file)
                #expect(try scan(folder.path, number)?.contains("Base64") == true, "\(shift)")
            }
        }
    }

    private func pay(_ shop: Shop, _ number: Int) throws -> String? {
        let text = try shop.curl([
            "http://localhost/v1/transactions", "-H", "Content-Type: application/json", "-H",
            "Idempotency-Key: scan-\(number)", "-H", "Prefer: wait=30", "-d",
            #"{"type":"purchase","amount":{"value":1000,"currency":"EUR"},"order":"S-\#(number)"}"#,
        ])
        return (try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])?["state"] as? String
    }

    /// - Returns: what was found; `nil` for nothing.
    private func scan(_ target: String, _ secrets: String) throws -> String? {
        let script = Checkout.file("Tests/Checks/Secrets/scan-secrets.py")
        let context = ProcessInfo.processInfo.environment["NFC_TAP_SCAN_CONTEXT"] == nil ? [] : ["--context"]
        let run = try Peer.run("python3", [script.path] + context + [target], input: Data(secrets.utf8))
        print(run.said.split(separator: "\n").last.map(String.init) ?? "")
        return run.status == 0 ? nil : run.said
    }
}

extension Shop {
    /// The sandbox behind a program that keeps every byte between it and the daemon.
    fileprivate func startCapturedSandbox() throws {
        let inner = folder.appending(path: "sandbox.sock").path
        keep(try Program.sandbox.launch(["--sandbox", "--socket", inner], in: folder))
        try eventually(inner) { FileManager.default.fileExists(atPath: inner) }
        let capture = Process()
        let script = Checkout.file("Tests/Checks/Secrets/capture-socket.py")
        capture.executableURL = URL(filePath: "/usr/bin/env")
        capture.arguments = [
            "python3", script.path, pspSocket, inner, folder.appending(path: "psp.capture").path,
        ]
        try capture.run()
        keep(capture)
        try eventually(pspSocket) { FileManager.default.fileExists(atPath: self.pspSocket) }
    }
}
