import CardBytes

/// Relay resistance protocol (C-2 §3.10; kernel 8 has the same). Times are in units of 100 µs. USB readers add
/// milliseconds, so it is off unless the configuration asks for it.
struct RelayResistance: Equatable, Sendable {
    enum Verdict: Equatable {
        /// Outside the limits: the exchange is repeated.
        case again
        /// Faster than any card: card data error.
        case tooFast
        case done(TVR)
    }

    /// DF8132…DF8137.
    var minimumGrace: Int
    var maximumGrace: Int
    var expectedCommandTime: Int
    var expectedResponseTime: Int
    var accuracyThreshold: Int
    var mismatchThreshold: Int

    var attempts = 0
    var terminalEntropy: [UInt8] = []
    /// Entropy (4), minimum, maximum and estimated time (2 each) as the card sent them.
    var answer: [UInt8] = []
    var measured = 0

    init?(_ store: DataStore) {
        func number(_ tag: Tag, _ count: Int) -> Int? { store.number(tag, count: count).map { Int($0) } }
        guard let minimumGrace = number(.minimumGracePeriod, 2), let maximumGrace = number(.maximumGracePeriod, 2),
            let expectedCommandTime = number(.expectedCommandTime, 2),
            let expectedResponseTime = number(.expectedResponseTime, 2),
            let accuracyThreshold = number(.accuracyThreshold, 2), let mismatchThreshold = number(.mismatchThreshold, 1)
        else { return nil }
        self.minimumGrace = minimumGrace
        self.maximumGrace = maximumGrace
        self.expectedCommandTime = expectedCommandTime
        self.expectedResponseTime = expectedResponseTime
        self.accuracyThreshold = accuracyThreshold
        self.mismatchThreshold = mismatchThreshold
    }

    var deviceEntropy: [UInt8] { Array(answer.prefix(4)) }

    /// What a CDA signature has to repeat after the transaction data hash.
    var signedPart: [UInt8] { terminalEntropy + answer }

    mutating func command(entropy: [UInt8]) -> CommandAPDU {
        terminalEntropy = entropy
        return ShortCommand.make(0x80, 0xEA, 0x00, 0x00, entropy)
    }

    /// - Parameters:
    ///   - value: value of the answer's template 80, ten bytes.
    ///   - nanoseconds: from command to answer.
    /// - Returns: `nil` for another length.
    mutating func answered(_ value: [UInt8], nanoseconds: UInt64) -> Verdict? {
        guard value.count == 10 else { return nil }
        answer = value
        func time(_ offset: Int) -> Int { Int(value[offset]) << 8 | Int(value[offset + 1]) }
        let minimum = time(4)
        let maximum = time(6)
        let estimated = time(8)
        let total = Int(min(nanoseconds / 100_000, 0xFFFF))
        measured = max(0, total - expectedCommandTime - min(estimated, expectedResponseTime))
        if measured < max(0, minimum - minimumGrace) { return .tooFast }
        let isTooSlow = measured > maximum + maximumGrace
        if isTooSlow, attempts < 2 {
            attempts += 1
            return .again
        }
        var tvr: TVR = .relayResistancePerformed
        if isTooSlow { tvr.insert(.relayResistanceTimeLimitsExceeded) }
        if isInaccurate(estimated, minimum) { tvr.insert(.relayResistanceThresholdExceeded) }
        return .done(tvr)
    }

    private func isInaccurate(_ estimated: Int, _ minimum: Int) -> Bool {
        guard estimated != 0, expectedResponseTime != 0 else { return false }
        return estimated * 100 / expectedResponseTime < mismatchThreshold
            || expectedResponseTime * 100 / estimated < mismatchThreshold
            || max(0, measured - minimum) > accuracyThreshold
    }

    /// Discretionary data of track 2 that carries the evidence where no CDA signature does: digits 0…9.
    func discretionaryData(panDigits: Int, keyIndex: UInt8) -> [UInt8] {
        func digits(_ number: Int, _ count: Int) -> [UInt8] {
            var rest = number
            var result = [UInt8](repeating: 0, count: count)
            for index in result.indices.reversed() {
                result[index] = UInt8(rest % 10)
                rest /= 10
            }
            return result
        }
        let entropy = deviceEntropy
        guard entropy.count == 4 else { return [] }
        var data: [UInt8] = [keyIndex < 0x0A ? keyIndex : 0, UInt8(attempts % 10)]
        data += digits(Int(entropy[2]) << 8 | Int(entropy[3]), 5)
        if panDigits <= 16 { data += digits(Int(entropy[1]), 3) }
        return data + digits(min(999, measured / 10), 3)
    }
}
