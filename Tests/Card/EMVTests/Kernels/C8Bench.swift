// SPDX-License-Identifier: Apache-2.0
import CardBytes

@testable import EMV

/// Kernel 8 alone, with a card of fixed answers and cryptography that can be followed by eye: encryption adds the low
/// byte of the counter to every byte, MACs are constant.
struct C8Bench {
    static let aid: [UInt8] = [0xF0, 0x4E, 0x46, 0x43, 0x2D, 0x43, 0x38]

    var selection: [DataObject] = [DataObject(0x84, aid), DataObject(0x9F2C, [2, 0xFF, 0x00, 0xFF, 0x80, 0, 0])]
    /// The answers by instruction; those of READ RECORD in their order.
    var options: [DataObject] = [
        DataObject(0x82, [0x01, 0x08]), DataObject(0x94, [0x08, 0x01, 0x01, 0x01]),
        DataObject(0x9F8103, [UInt8](repeating: 0x11, count: 64)),
    ]
    var records: [[UInt8]] = [[0x70] + C8Bench.template(account)]
    var cryptogram: [DataObject] = [
        DataObject(0x9F27, [0x80]), DataObject(0x9F36, [0, 1]), DataObject(0x9F26, [1, 2, 3, 4, 5, 6, 7, 8]),
        DataObject(0x9F10, [UInt8](repeating: 0, count: 32)), DataObject(0x9F8102, [0x00]),
        DataObject(0x9F8105, C8Bench.mac),
    ]
    var relay: [UInt8] = [0x80, 0x0A, 1, 2, 3, 4, 0x00, 0x00, 0x00, 0x64, 0x00, 0x18]
    var statuses: [UInt8: StatusWord] = [:]
    var kernelData: [DataObject] = [
        DataObject(0x9F35, [0x22]), DataObject(0x9F8208, [0x6C]), DataObject(0x9F8207, [0x6C]),
        DataObject(0x9F820A, [0x10]), DataObject(0x9F820C, [0, 0, 0, 0x80, 0]),
        DataObject(0x9F820E, [0, 0, 0, 0, 0x10, 0]), DataObject(0x9F820D, [0, 0, 0, 0, 0, 0]),
    ]
    var failure: LocalAuthenticationFailure?
    var milliseconds: UInt64 = 5
    var type = TransactionType.purchase
    var amount: UInt64 = 500

    static let mac = [UInt8](repeating: 0xEE, count: 8)
    static let account: [DataObject] = [
        DataObject(0x5A, [0x99, 0x99, 0x99, 0x00, 0x00, 0x00, 0x00, 0x14]), DataObject(0x8F, [1]),
        DataObject(0x90, [2]), DataObject(0x9F46, [3]),
    ]

    /// Length and value of a template's objects.
    static func template(_ objects: [DataObject]) -> [UInt8] {
        TLVWriter.length(objects.encoded.count) + objects.encoded
    }

    mutating func set(_ objects: DataObject...) {
        for object in objects {
            kernelData.removeAll { $0.tag == object.tag }
            kernelData.append(object)
        }
    }

    private var authentication: OfflineAuthentication {
        var authentication = OfflineAuthentication.unavailable
        let failure = failure
        authentication.secureChannel = SecureChannelCryptography(
            publicKey: { $0 + $0 },
            sessionKeys: { _, cardKey in
                guard cardKey.first != 0xFF else { return nil }
                return SecureChannelKeys(
                    apply: { counter, data in data.map { $0 ^ UInt8(truncatingIfNeeded: counter) } },
                    mac: { _ in C8Bench.mac + C8Bench.mac }, macPlus: { _ in [UInt8](repeating: 0xAA, count: 16) })
            },
            hash: { _ in [UInt8](repeating: 0x55, count: 32) }, authenticate: { _ in failure })
        return authentication
    }

    private var activation: KernelActivation {
        var fci = TLVWriter()
        fci.append(0x6F, selection.encoded)
        return KernelActivation(
            application: SelectedApplication(adfName: Self.aid, matchingAID: Self.aid, kernel: .c8),
            selection: ResponseAPDU(data: fci.bytes, status: .success),
            combination: Combination(aid: Self.aid, kernel: .c8, kernelData: kernelData),
            indicators: PreProcessingIndicators(), terminalData: [], transaction: .test(amount, type: type),
            unpredictableNumbers: .fixed([0x0A0B_0C0D]), authentication: authentication)
    }

    private func answer(_ command: CommandAPDU, record: Int) -> ResponseAPDU {
        if let status = statuses[command.ins] { return ResponseAPDU(status: status) }
        switch command.ins {
        case 0xA8: return ResponseAPDU(data: [0x77] + Self.template(options), status: .success)
        case 0xEA: return ResponseAPDU(data: relay, status: .success)
        case 0xB2 where record < records.count: return ResponseAPDU(data: records[record], status: .success)
        case 0xAE: return ResponseAPDU(data: [0x77] + Self.template(cryptogram), status: .success)
        case _: return ResponseAPDU(status: .instructionNotSupported)
        }
    }

    /// Outcome and commands.
    func run() throws -> (outcome: Outcome, commands: [CommandAPDU]) {
        var kernel = Kernel8()
        var commands: [CommandAPDU] = []
        var record = 0
        var now = TapInstant(nanoseconds: 0)
        var step = kernel.start(activation, now: now)
        for _ in 0..<50 {
            switch step.action {
            case .finished(let outcome): return (outcome, commands)
            case .askTerminal: step = kernel.terminalAnswered(.timedOut, now: now)
            case .transmit(let command):
                commands.append(command)
                now = now.advanced(byMilliseconds: milliseconds)
                step = kernel.received(answer(command, record: record), now: now)
                if command.ins == 0xB2 { record += 1 }
            }
        }
        throw EndlessRun()
    }
}
