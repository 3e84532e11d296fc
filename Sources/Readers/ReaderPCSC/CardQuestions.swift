// SPDX-License-Identifier: Apache-2.0
/// Which of GET DATA's questions (P1: 00 UID, 01 ATS) a reader is still asked about the card that lies there.
struct CardQuestions {
    /// Once may be noise.
    private static let mostFailures = 2
    /// So many failures in a row, and a new presentation does not help either: a driver that loses the card counts a new one
    /// each time.
    private static let mostInRow = 4

    private var counter: UInt16 = 0
    private var failures: [UInt8: Int] = [:]
    private var inRow = 0

    /// - Parameter counter: the reader's event counter, another one for each presentation.
    mutating func begin(_ counter: UInt16) {
        if counter != self.counter, inRow < Self.mostInRow { failures = [:] }
        self.counter = counter
    }

    func mayAsk(_ parameter: UInt8) -> Bool { failures[parameter, default: 0] < Self.mostFailures }

    mutating func failed(_ parameter: UInt8) {
        failures[parameter, default: 0] += 1
        inRow += 1
    }

    /// The card is known as far as it will be.
    mutating func answered() { inRow = 0 }
}
