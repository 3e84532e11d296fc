// SPDX-License-Identifier: Apache-2.0
import Codes
import EMV

extension TerminalFile {
    /// The switches of `RiskManagement`; what is left out stays as it is by default.
    static func riskManagement(_ value: TerminalFileValue) throws(TerminalFileError) -> RiskManagement {
        let switches: [(name: String, path: WritableKeyPath<RiskManagement, Bool>)] = [
            ("merchantForcedOnline", \.merchantForcedOnline), ("checksVelocity", \.checksVelocity),
            ("checksCash", \.checksCash), ("checksCashback", \.checksCashback),
        ]
        try value.object(Set(switches.map(\.name)).union(["randomSelection"]))
        var risk = RiskManagement()
        for (name, path) in switches {
            if let flag = try value.optional(name) { risk[keyPath: path] = try flag.flag() }
        }
        if let selection = try value.optional("randomSelection") {
            risk.randomSelection = try randomSelection(selection)
        }
        return risk
    }

    /// Amounts in minor units, percentages 0…99 (EMV Book 3 §10.6.2).
    private static func randomSelection(_ value: TerminalFileValue) throws(TerminalFileError) -> RandomSelection {
        try value.object(["floorLimit", "threshold", "targetPercentage", "maximumPercentage"])
        func number(_ name: String, upTo most: UInt64) throws(TerminalFileError) -> UInt64 {
            try value.member(name).number(in: 0...most)
        }
        return RandomSelection(
            floorLimit: try number("floorLimit", upTo: UInt64(CurrencyCode.largestAmount)),
            threshold: try number("threshold", upTo: UInt64(CurrencyCode.largestAmount)),
            targetPercentage: UInt8(truncatingIfNeeded: try number("targetPercentage", upTo: 99)),
            maximumPercentage: UInt8(truncatingIfNeeded: try number("maximumPercentage", upTo: 99)))
    }
}
