// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Codes
import Logging
import PSPAPI
import PSPSandbox
import PaymentValues
import ServiceProgram

/// A payment service for tests on a Unix socket, and a PIN device beside it. It has a stored property for each option.
@main
struct SandboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nfc-tap-psp-sandbox",
        abstract: "Answer nfc-tapd as a test payment service; the amount chooses the answer.",
        discussion: """
            Opens envelopes with a published test key (give --sandbox to say that you know) or with the private JWK of \
            --key. The last two digits of the amount choose the answer: see docs/integrating/sandbox.md. GET /debug/ledger shows \
            the books.
            """,
        version: Version.text)

    @Option(help: ArgumentHelp("Unix socket to listen at.", valueName: "path"))
    var socket: String

    @Flag(help: "Use the published test key: anybody can open what is sealed to it.")
    var sandbox = false

    @Option(help: ArgumentHelp("File with the recipient's private JWK.", valueName: "file"))
    var key: String?

    @Option(help: ArgumentHelp("Seconds until amounts ending in 97 are answered.", valueName: "seconds"))
    var slowSeconds: Double = 20

    @Option(help: ArgumentHelp("Seconds until amounts ending in 99 are answered.", valueName: "seconds"))
    var lateSeconds: Double = 35

    @Option(help: ArgumentHelp("Seconds for which a preauthorised sum is held.", valueName: "seconds"))
    var holdSeconds: Double = 604_800

    @Option(
        help: ArgumentHelp("Seconds from the report of a day to its figures.", valueName: "seconds"))
    var figuresSeconds: Double = 0

    @Option(
        help: ArgumentHelp(
            "Keep the books in this SQLite file. Several sandboxes with the same file are replicas of one adapter.",
            valueName: "file"))
    var store: String?

    @Option(
        help: ArgumentHelp(
            "Seconds after which another sandbox takes over a request that was begun and not answered.",
            valueName: "seconds"))
    var leaseSeconds: Double = 60

    @Option(
        help: ArgumentHelp(
            "Words to leave out of supports, such as capture,refundLinked.", valueName: "words"))
    var without: String = ""

    @Option(
        help: ArgumentHelp(
            "Be a PIN device in software too, with published test keys, on this Unix socket.", valueName: "path"))
    var pinDevice: String?

    @Option(help: ArgumentHelp("What its customer enters; test cards have 1234.", valueName: "digits"))
    var pin = "1234"

    @Option(help: ArgumentHelp("What its customer does: enter, cancel, bypass, time-out or fail.", valueName: "what"))
    var pinEnds = "enter"

    @Option(help: ArgumentHelp("Seconds that its customer takes.", valueName: "seconds"))
    var pinDelay: Double = 1

    @Option(help: ArgumentHelp("The PIN device's keys: test-aes-dukpt or test-tdes-dukpt.", valueName: "name"))
    var pinKeys = "test-aes-dukpt"

    @Option(
        help: ArgumentHelp("Version of the terms in the profile; each version has its own text.", valueName: "text"))
    var termsVersion = "2026-01"

    @Option(help: ArgumentHelp("Seconds from a profile's issue to its expiry.", valueName: "seconds"))
    var profileLifetime: Int64 = 30 * 86_400

    @Option(
        help: ArgumentHelp(
            "Serve a profile that must be refused: expired, signature or malformed. Serve none with absent.",
            valueName: "fault"))
    var profileFault: String?

    func validate() throws {
        guard (1...31_536_000).contains(profileLifetime) else {
            throw ValidationError("The profile's lifetime must be between 1 and 31536000 seconds.")
        }
        guard (1...32).contains(termsVersion.utf8.count), termsVersion.utf8.allSatisfy(Self.isPlain) else {
            throw ValidationError("The version of the terms must be 1 to 32 letters, digits, dots and dashes.")
        }
        guard profileFault.map({ $0 == "absent" || SandboxProfile.Fault(rawValue: $0) != nil }) ?? true else {
            throw ValidationError("The profile's fault must be expired, signature, malformed or absent.")
        }
        guard sandbox != (key != nil) else {
            throw ValidationError(
                "Give either --sandbox, which uses a published test key that protects nothing, or --key FILE.")
        }
        guard (0...3_600).contains(slowSeconds), (0...3_600).contains(lateSeconds), (0...3_600).contains(leaseSeconds),
            (0...3_600).contains(figuresSeconds)
        else {
            throw ValidationError("Seconds must be between 0 and 3600.")
        }
        guard (0...31_536_000).contains(holdSeconds) else {
            throw ValidationError("A sum can be held for 0 to 31536000 seconds.")
        }
        guard SimulatedPINDevice.Ending(rawValue: pinEnds) != nil, (0...120).contains(pinDelay),
            SimulatedPINDevice.keySets.contains(pinKeys), (4...12).contains(pin.utf8.count),
            pin.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else {
            throw ValidationError(
                "A PIN has 4 to 12 digits and takes up to 120 seconds; see --help for how it ends, and for the keys.")
        }
        for word in words where AdapterFeature(rawValue: word) == nil {
            throw ValidationError("supports has no word \(word); see docs/integrating/adapters.md.")
        }
    }

    func run() async throws {
        let program = ServiceProgram("nfc-tap-psp-sandbox")
        let timing = SandboxTiming(
            slow: .seconds(slowSeconds), late: .seconds(lateSeconds), hold: .seconds(holdSeconds),
            lease: .seconds(leaseSeconds), figures: .seconds(figuresSeconds))
        let features = Set(AdapterFeature.allCases).subtracting(words.compactMap(AdapterFeature.init))
        let server = try SandboxServer(
            path: socket, keyFile: key, timing: timing, profile: try profile(), store: store, features: features,
            logger: program.logger)
        let device = try simulatedPINDevice(program.logger)
        try await program.serve {
            program.say("listening at \(socket)")
            if sandbox { program.say("warning: published test key in use, nothing sealed to it is protected") }
            if let pinDevice { program.say("PIN device in software at \(pinDevice)") }
        } stop: {
            server.shutDown()
            device?.shutDown()
        } _: {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await server.run() }
                if let device { group.addTask { try await device.run() } }
                try await group.waitForAll()
            }
        }
    }

    private func simulatedPINDevice(_ logger: Logger) throws -> SimulatedPINDeviceServer? {
        guard let pinDevice,
            let device = SimulatedPINDevice(
                key: try TestRecipient.privateKey(), keySet: pinKeys, pin: pin,
                ending: SimulatedPINDevice.Ending(rawValue: pinEnds) ?? .fail, delay: .seconds(pinDelay))
        else { return nil }
        return try SimulatedPINDeviceServer(path: pinDevice, device: device, logger: logger)
    }

    private func profile() throws -> SandboxProfile? {
        guard profileFault != "absent" else { return nil }
        var profile = SandboxProfile(key: try TestSigner.key())
        profile.termsVersion = termsVersion
        profile.lifetime = profileLifetime
        profile.fault = profileFault.flatMap(SandboxProfile.Fault.init)
        return profile
    }

    private var words: [String] { without.split(separator: ",").map(String.init) }

    private static func isPlain(_ unit: UInt8) -> Bool {
        switch unit {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E: true
        default: false
        }
    }
}
