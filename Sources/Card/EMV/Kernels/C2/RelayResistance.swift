// SPDX-License-Identifier: Apache-2.0
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

    enum Progress: Equatable {
        case again
        case done(TVR)
        case failed(ErrorIndication.L2, StatusWord? = nil)
    }

    /// DF8132…DF8137.
    var minimumGrace: Int
    var maximumGrace: Int
    var expectedCommandTime: Int
    var expectedResponseTime: Int
    var accuracyThreshold: Int
    var mismatchThreshold: Int

    /// Whether an estimate of zero counts as inaccurate: sources say yes of kernel 2 and no of kernel 8.
    var rejectsZeroEstimate = true

    var attempts = 0
    var terminalEntropy: [UInt8] = []
    /// Entropy (4), minimum, maximum and estimated time (2 each) as the card sent them.
    var answer: [UInt8] = []
    var measured = 0

    /// Where kernel 2 has its limits: DF8132…DF8137.
    static let kernel2Limits: [Tag] = [
        .minimumGracePeriod, .maximumGracePeriod, .expectedCommandTime, .expectedResponseTime, .accuracyThreshold,
        .mismatchThreshold,
    ]

    /// - Parameter tags: the two grace periods, the two expected times, the accuracy threshold (two bytes each) and the
    ///   mismatch threshold (one byte).
    /// - Returns: `nil` where one of them is absent or has another length.
    init?(_ store: DataStore, _ tags: [Tag] = kernel2Limits) {
        let limits = tags.enumerated().compactMap { index, tag in store.number(tag, count: index < 5 ? 2 : 1) }
        guard limits.count == 6 else { return nil }
        let numbers = limits.map { Int($0) }
        minimumGrace = numbers[0]
        maximumGrace = numbers[1]
        expectedCommandTime = numbers[2]
        expectedResponseTime = numbers[3]
        accuracyThreshold = numbers[4]
        mismatchThreshold = numbers[5]
    }

    var deviceEntropy: [UInt8] { Array(answer.prefix(4)) }

    /// What a CDA signature has to repeat after the transaction data hash.
    var signedPart: [UInt8] { terminalEntropy + answer }

    mutating func command(entropy: [UInt8]) -> CommandAPDU {
        terminalEntropy = entropy
        return ShortCommand.make(0x80, 0xEA, 0x00, 0x00, entropy)
    }

    /// What follows the answer to EXCHANGE RELAY RESISTANCE DATA, a template 80 (C-2 SR1; C-8 S21).
    ///
    /// - Parameter nanoseconds: from command to answer.
    mutating func received(_ response: ResponseAPDU, nanoseconds: UInt64) -> Progress {
        guard response.status.isSuccess else { return .failed(.statusBytes, response.status) }
        let value: [UInt8]
        do throws(CardDataError) {
            let template = try ResponseTemplate(response.data)
            guard template.tag == .responseFormat1 else { return .failed(.parsingError) }
            value = Array(response.data[template.value])
        } catch {
            return .failed(error.l2)
        }
        switch answered(value, nanoseconds: nanoseconds) {
        case nil: return .failed(.parsingError)
        case .tooFast: return .failed(.cardDataError)
        case .again: return .again
        case .done(let tvr): return .done(tvr)
        }
    }

    /// - Parameters:
    ///   - value: ten bytes.
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
        guard estimated != 0, expectedResponseTime != 0 else { return rejectsZeroEstimate }
        return estimated * 100 / expectedResponseTime < mismatchThreshold
            || expectedResponseTime * 100 / estimated < mismatchThreshold
            || max(0, measured - minimum) > accuracyThreshold
    }

    /// Takes an earlier exchange back out of DF8301…DF8307.
    mutating func restore(_ store: DataStore) {
        terminalEntropy = store.value(.terminalRelayEntropy) ?? []
        answer = [Tag.deviceRelayEntropy, .minimumRelayTime, .maximumRelayTime, .estimatedRelayTransmissionTime].flatMap
        {
            store.value($0) ?? []
        }
        measured = Int(store.number(.measuredRelayTime, count: 2) ?? 0)
        attempts = Int(store.byte(.relayCounter) ?? 0)
    }

    /// What a card may ask for in a list: DF8301…DF8307.
    var objects: [DataObject] {
        guard answer.count == 10 else { return [] }
        let time = [UInt8(truncatingIfNeeded: measured >> 8), UInt8(truncatingIfNeeded: measured)]
        return [
            DataObject(.terminalRelayEntropy, terminalEntropy), DataObject(.deviceRelayEntropy, deviceEntropy),
            DataObject(.minimumRelayTime, Array(answer[4..<6])), DataObject(.maximumRelayTime, Array(answer[6..<8])),
            DataObject(.estimatedRelayTransmissionTime, Array(answer[8..<10])), DataObject(.measuredRelayTime, time),
            DataObject(.relayCounter, [UInt8(truncatingIfNeeded: attempts)]),
        ]
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
