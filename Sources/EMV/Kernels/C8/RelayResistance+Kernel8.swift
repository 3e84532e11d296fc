import CardBytes

extension RelayResistance {
    /// The limits of kernel 8: 9F8213…9F8218, with the meanings that DF8132…DF8137 have in kernel 2.
    init?(kernel8 store: DataStore) {
        func number(_ tag: Tag, _ count: Int) -> Int? { store.number(tag, count: count).map { Int($0) } }
        guard let minimumGrace = number(.c8MinimumGracePeriod, 2), let maximumGrace = number(.c8MaximumGracePeriod, 2),
            let expectedCommandTime = number(.c8ExpectedCommandTime, 2),
            let expectedResponseTime = number(.c8ExpectedResponseTime, 2),
            let accuracyThreshold = number(.c8AccuracyThreshold, 2),
            let mismatchThreshold = number(.c8MismatchThreshold, 1)
        else { return nil }
        self.minimumGrace = minimumGrace
        self.maximumGrace = maximumGrace
        self.expectedCommandTime = expectedCommandTime
        self.expectedResponseTime = expectedResponseTime
        self.accuracyThreshold = accuracyThreshold
        self.mismatchThreshold = mismatchThreshold
    }

    /// Relay Resistance Time Excess (9F810C): by how much the measured time exceeds the card's own maximum, two bytes.
    var timeExcess: [UInt8] {
        guard answer.count == 10 else { return [0, 0] }
        let excess = max(0, measured - (Int(answer[6]) << 8 | Int(answer[7])))
        return [UInt8(truncatingIfNeeded: excess >> 8), UInt8(truncatingIfNeeded: excess)]
    }
}
