// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import FuzzSupport
import Glibc

/// Inputs to begin with, made of recorded transactions (`Tests/Vectors/emv/transcripts.jsonl`).
enum Seeds {
    static func write(to folder: String, transcripts: String) {
        if let kernel8 = Terminal.aids.firstIndex(where: { $0.kernel == .c8 }) {
            let target = [CardTargets.kernel, UInt8(kernel8)]
            Fuzzer.write(AnswerScript.input(target: target, secureChannel), to: folder, named: "kernel-8")
        }
        for (number, line) in lines(of: transcripts).enumerated() {
            let answers = answers(in: line)
            guard !answers.isEmpty else { continue }
            for target in [CardTargets.directory, CardTargets.inspection] {
                Fuzzer.write(AnswerScript.input(target: [target], answers), to: folder, named: "\(number)-\(target)")
            }
            // Without directory and selection, for each kernel.
            for kernel in 0..<UInt8(Terminal.aids.count) {
                let input = AnswerScript.input(target: [CardTargets.kernel, kernel], Array(answers.dropFirst(2)))
                Fuzzer.write(input, to: folder, named: "\(number)-kernel-\(kernel)")
            }
            for (index, answer) in answers.enumerated() {
                Fuzzer.write([0] + answer.data, to: folder, named: "\(number)-tlv-\(index)")
                Fuzzer.write([6] + answer.data, to: folder, named: "\(number)-store-\(index)")
            }
        }
    }

    /// A transaction of kernel 8 under `Terminal`'s transparent cryptography.
    private static var secureChannel: [ResponseAPDU] {
        let mac = Array(Terminal.constantMAC.prefix(8))
        let templates: [(Tag, [DataObject])] = [
            (
                0x77,
                [
                    DataObject(0x82, [0x01, 0x08]), DataObject(0x94, [0x08, 0x01, 0x01, 0x01]),
                    DataObject(0x9F8103, [UInt8](repeating: 0x11, count: 64)),
                ]
            ),
            (
                0x70,
                [
                    DataObject(0x5A, [0x99, 0x99, 0x99, 0x00, 0x00, 0x00, 0x00, 0x14]), DataObject(0x8F, [0x01]),
                    DataObject(0x90, [0x02]), DataObject(0x9F46, [0x03]),
                ]
            ),
            (
                0x77,
                [
                    DataObject(0x9F27, [0x80]), DataObject(0x9F36, [0x00, 0x01]), DataObject(0x9F26, mac),
                    DataObject(0x9F10, [UInt8](repeating: 0, count: 32)), DataObject(0x9F8102, [0x00]),
                    DataObject(0x9F8105, mac),
                ]
            ),
        ]
        return templates.map { template, objects in
            var writer = TLVWriter()
            writer.append(template, objects.encoded)
            return ResponseAPDU(data: writer.bytes, status: .success)
        }
    }

    private static func lines(of path: String) -> [[UInt8]] {
        guard let file = unsafe fopen(path, "r") else { exit(1) }
        var bytes: [UInt8] = []
        while true {
            let byte = unsafe getc(file)
            if byte == EOF { break }
            bytes.append(UInt8(truncatingIfNeeded: byte))
        }
        _ = unsafe fclose(file)
        return bytes.split(separator: 0x0A).map { Array($0) }
    }

    /// Every second of the hexadecimal texts in quotation marks: commands and answers take turns.
    private static func answers(in line: [UInt8]) -> [ResponseAPDU] {
        var answers: [ResponseAPDU] = []
        var isAnswer = false
        for text in line.split(separator: 0x22) where text.count >= 4 {
            guard let bytes = try? Hex.bytes(String(decoding: text, as: UTF8.self)) else { continue }
            if isAnswer, let answer = try? ResponseAPDU(bytes) { answers.append(answer) }
            isAnswer.toggle()
        }
        return answers
    }
}
