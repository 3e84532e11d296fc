// SPDX-License-Identifier: Apache-2.0

/// What the simulated host does with an amount, by its last two digits in minor units: those of the sandbox, and lies if they are asked
/// for.
enum HostAmountRule: Equatable, Sendable {
    /// With the code of 1987.
    case approve(String)
    /// Half of the amount, rounded down.
    case approveHalf
    case decline(String)
    case fault(HostFault)

    init(_ amount: UInt64, lies: Bool) {
        let digits = Int(amount % 100)
        if let fault = HostFault(rawValue: digits), lies || !fault.isLie {
            self = .fault(fault)
            return
        }
        self =
            switch digits {
            case 1, 5: .decline("0\(digits)")
            case 8: .approve("08")
            case 10: .approveHalf
            case 12, 14, 41, 43, 51, 54, 55, 57, 61, 65, 70, 91: .decline("\(digits)")
            case 78: .decline("1A")
            default: .approve("00")
            }
    }
}

/// Ways of not giving a proper answer to what was approved.
enum HostFault: Int, Codable, Equatable, Sendable, CaseIterable {
    /// The answer has an amount that is higher than what was asked.
    case otherAmount = 85
    /// The answer has another trace number.
    case otherTrace = 86
    /// The answer has another currency.
    case otherCurrency = 87
    /// A second answer declines what the first one has approved.
    case contradiction = 88
    /// The answer has no code.
    case noCode = 89
    /// Code 96, and nothing is booked.
    case malfunction = 93
    case answersTwice = 94
    /// The connection is closed in the middle of the answer.
    case closesMidAnswer = 95
    /// A frame that holds no message.
    case garbage = 96
    /// Within the time that a switch waits.
    case slow = 97
    case neverAnswers = 98
    /// After that time.
    case late = 99

    var isLie: Bool { rawValue < 90 }
}

/// Codes of field 39: the books have those of 1987, and a host of 1993 says them its own way. The pairs of 1993 are not verified with any
/// host.
enum HostCode {
    private static let action = [
        "00": "000", "08": "001", "10": "002", "01": "107", "05": "100", "12": "902", "13": "110", "14": "111",
        "25": "480", "30": "904", "41": "208", "43": "209", "51": "116", "54": "101", "55": "117", "57": "119",
        "61": "121", "65": "123", "70": "100", "1A": "100", "82": "122", "91": "907", "94": "913", "96": "909",
    ]

    static func text(_ code: String, is1993: Bool) -> String { is1993 ? action[code] ?? "100" : code }
}
