// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Codes
import EMV
import ReaderCore

/// Reads the values of header lines.
struct HeaderFields {
    static let mostMinorUnits = UInt64(CurrencyCode.largestAmount)

    private let transcript: Transcript

    init(_ transcript: Transcript) { self.transcript = transcript }

    func optionalNumber(_ key: String, upTo most: UInt64) throws(TranscriptHeaderError) -> UInt64? {
        guard let text = transcript[key] else { return nil }
        guard let number = UInt64(text), number <= most else {
            throw .unreadable(key, expected: "a whole number up to \(most)")
        }
        return number
    }

    func number(_ key: String, upTo most: UInt64) throws(TranscriptHeaderError) -> UInt64 {
        guard let number = try optionalNumber(key, upTo: most) else { throw .missing(key) }
        return number
    }

    /// A numeric ISO code, or its alphabetic form.
    func code(_ key: String, _ named: (String) -> UInt16?) throws(TranscriptHeaderError) -> UInt16 {
        guard let text = transcript[key] else { throw .missing(key) }
        guard let number = UInt64(text) ?? named(text.uppercased()).map(UInt64.init), number <= 999 else {
            throw .unreadable(key, expected: "an ISO code")
        }
        return UInt16(truncatingIfNeeded: number)
    }

    func byte(_ key: String) throws(TranscriptHeaderError) -> UInt8? {
        guard let text = transcript[key] else { return nil }
        guard let bytes = try? Hex.bytes(text), bytes.count == 1 else {
            throw .unreadable(key, expected: "one byte in hexadecimal")
        }
        return bytes[0]
    }

    func word<Word>(_ key: String, _ make: (String) -> Word?) throws(TranscriptHeaderError) -> Word? {
        guard let text = transcript[key] else { return nil }
        guard let word = make(text) else { throw .unreadable(key, expected: "a known word") }
        return word
    }

    func date() throws(TranscriptHeaderError) -> EMVDate {
        guard let text = transcript["date"] else { throw .missing("date") }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 3, let year = parts[0], let month = parts[1], let day = parts[2],
            (1950...2049).contains(year), EMVDate(year: year, month: month, day: day).isPlausible
        else { throw .unreadable("date", expected: "YYYY-MM-DD") }
        return EMVDate(year: year, month: month, day: day)
    }

    func time() throws(TranscriptHeaderError) -> EMVTime {
        guard let text = transcript["time"] else { return EMVTime(hour: 0, minute: 0, second: 0) }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 3, let hour = parts[0], let minute = parts[1], let second = parts[2],
            (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second)
        else { throw .unreadable("time", expected: "HH:MM:SS") }
        return EMVTime(hour: hour, minute: minute, second: second)
    }

    func randomNumbers() throws(TranscriptHeaderError) -> [UInt32] {
        guard let text = transcript["random"] else { throw .missing("random") }
        let words = text.split { $0 == " " || $0 == "," }
        let numbers = words.compactMap { $0.count == 8 ? UInt32($0, radix: 16) : nil }
        guard !numbers.isEmpty, numbers.count == words.count else {
            throw .unreadable("random", expected: "numbers of eight hexadecimal digits")
        }
        return numbers
    }
}
