// SPDX-License-Identifier: Apache-2.0
import CardBytes

@testable import EMV

/// A card of one application, built from data objects: it answers by instruction, whatever data the commands carry.
struct PlainCard {
    var aid: [UInt8]
    /// Objects of the FCI's proprietary template.
    var selection: [DataObject] = []
    /// Objects of the format 2 answer to GET PROCESSING OPTIONS; the AFL is among them.
    var options: [DataObject] = []
    /// READ RECORD answers by P1 and P2.
    var records: [[UInt8]: [DataObject]] = [:]
    /// Objects of the format 2 answer to GENERATE AC, RECOVER AC and COMPUTE CRYPTOGRAPHIC CHECKSUM.
    var cryptogram: [DataObject] = []
    /// Status words that replace the answer, by instruction.
    var statuses: [UInt8: StatusWord] = [:]
    /// Answers to GET DATA by P1 and P2; they win over `answers`.
    var data: [[UInt8]: [UInt8]] = [:]
    /// Other answers, by instruction.
    var answers: [UInt8: [UInt8]] = [:]

    func answer(_ command: CommandAPDU) -> ResponseAPDU {
        if command.ins == 0xA4 {
            let isDirectory = command.data == Array("2PAY.SYS.DDF01".utf8)
            return ResponseAPDU(data: isDirectory ? directory : fci, status: .success)
        }
        if let status = statuses[command.ins] { return ResponseAPDU(status: status) }
        if command.ins == 0xCA, let answer = data[[command.p1, command.p2]] {
            return ResponseAPDU(data: answer, status: .success)
        }
        if let answer = answers[command.ins] { return ResponseAPDU(data: answer, status: .success) }
        switch command.ins {
        case 0xA8: return template(0x77, options)
        case 0xB2:
            guard let record = records[[command.p1, command.p2]] else { return ResponseAPDU(status: .recordNotFound) }
            return template(0x70, record)
        case 0xAE, 0xD0, 0x2A: return template(0x77, cryptogram)
        case _: return ResponseAPDU(status: .instructionNotSupported)
        }
    }

    private var directory: [UInt8] { DirectoryTests.ppse([[DataObject(0x4F, aid)]]) }

    private var fci: [UInt8] {
        var writer = TLVWriter()
        writer.append(0x6F) { fci in
            fci.append(0x84, aid)
            // These stand in the issuer's discretionary data.
            let discretionary: [CardBytes.Tag] = [0x9F4D, 0x9F5D, 0x9F5E, 0x9F6E]
            let inner = selection.filter { discretionary.contains($0.tag) }
            let outer = selection.filter { !discretionary.contains($0.tag) }
            fci.append(0xA5, (outer + (inner.isEmpty ? [] : [DataObject(0xBF0C, inner.encoded)])).encoded)
        }
        return writer.bytes
    }

    private func template(_ tag: CardBytes.Tag, _ objects: [DataObject]) -> ResponseAPDU {
        var writer = TLVWriter()
        writer.append(tag, objects.encoded)
        return ResponseAPDU(data: writer.bytes, status: .success)
    }

    /// Puts objects in the place of those with the same tag; an empty list of bytes leaves a tag out.
    mutating func setOptions(_ objects: DataObject...) {
        for object in objects {
            options.removeAll { $0.tag == object.tag }
            if !object.value.isEmpty { options.append(object) }
        }
    }

    func run(
        _ configuration: TerminalConfiguration, _ transaction: Transaction,
        authentication: OfflineAuthentication = .unavailable, kernels: KernelSet = .standard, lostAt: Int? = nil
    ) throws -> Run {
        var entryPoint = EntryPoint(
            configuration: configuration, transaction: transaction, unpredictableNumbers: .fixed([0x1234_5678]),
            authentication: authentication, kernels: kernels)
        return try Run.drive(&entryPoint) { number, command in number == lostAt ? nil : answer(command) }
    }
}

extension OfflineAuthentication {
    /// Every signature holds and carries the cryptogram 0102…08.
    static let accepting = OfflineAuthentication(
        hasKey: { _, _ in true },
        verify: { _ in .verified(AuthenticatedData(iccDynamicNumber: [9, 9], cryptogram: [1, 2, 3, 4, 5, 6, 7, 8])) })

    /// Keys are there, but no signature holds.
    static let refusing = OfflineAuthentication(hasKey: { _, _ in true }, verify: { _ in .failed(.signatureHash) })
}
