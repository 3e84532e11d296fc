import CardBytes
import FuzzSupport
import Glibc

/// Inputs to begin with, made of recorded transactions (`Tests/Vectors/emv/transcripts.jsonl`).
enum Seeds {
    static func write(to folder: String, transcripts: String) {
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
