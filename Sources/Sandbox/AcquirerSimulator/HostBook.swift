// SPDX-License-Identifier: Apache-2.0
import ISO8583

/// What the lines of the book come to.
public struct HostBook: Sendable {
    /// A payment as it stands.
    public struct Booking: Equatable, Sendable {
        public let line: BookLine
        /// Minor units that are held.
        public internal(set) var held: UInt64 = 0
        /// Minor units that were taken, or given back by a credit.
        public internal(set) var taken: UInt64 = 0
        public internal(set) var isReversed = false
    }

    /// Sums for one currency since its last reconciliation, as fields 74 to 77 and 86 to 89 have them.
    public struct Totals: Codable, Equatable, Sendable {
        public internal(set) var credits: UInt64 = 0
        public internal(set) var creditReversals: UInt64 = 0
        public internal(set) var debits: UInt64 = 0
        public internal(set) var debitReversals: UInt64 = 0
        public internal(set) var creditAmount: UInt64 = 0
        public internal(set) var creditReversalAmount: UInt64 = 0
        public internal(set) var debitAmount: UInt64 = 0
        public internal(set) var debitReversalAmount: UInt64 = 0

        /// Positive where more was taken than given.
        var net: Int64 {
            Int64(clamping: debitAmount) &- Int64(clamping: debitReversalAmount) &- Int64(clamping: creditAmount)
                &+ Int64(clamping: creditReversalAmount)
        }
    }

    public private(set) var bookings: [Int: Booking] = [:]
    public private(set) var totals: [String: Totals] = [:]
    public private(set) var lines = 0
    /// Lines by the names of what they answered.
    private var places: [String: [Int]] = [:]
    /// Authorisations by their references, and the first advice that took what one held.
    private var holds: [String: [Int]] = [:]
    private var captures: [Int: Int] = [:]
    /// What was reversed before it came.
    private(set) var stopped: Set<String> = []
    private(set) var approvals = 0

    public init() {}

    /// - Returns: the line with its number.
    public mutating func append(_ line: BookLine) -> BookLine {
        var line = line
        lines += 1
        line.number = lines
        switch line.event {
        case .authorization, .sale: begin(line)
        case .advice:
            begin(line)
            guard let original = line.original, line.booked != nil else { break }
            bookings[original]?.held = 0
            captures[original] = captures[original] ?? line.number
        case .reversal: reverse(line)
        case .reconciliation:
            places[Self.name(line), default: []].append(line.number)
            bookings[line.number] = Booking(line: line)
            if let currency = line.currency { totals[currency] = Totals() }
        case .network, .again, .refused: break
        }
        return line
    }

    private mutating func begin(_ line: BookLine) {
        places[Self.name(line), default: []].append(line.number)
        var booking = Booking(line: line)
        let booked = line.booked ?? 0
        if line.approval != nil { approvals += 1 }
        if line.event == .authorization {
            booking.held = booked
            if let reference = line.reference { holds[reference, default: []].append(line.number) }
        } else {
            booking.taken = booked
            if booked > 0, let currency = line.currency {
                if line.isCredit == true {
                    totals[currency, default: Totals()].credits += 1
                    totals[currency, default: Totals()].creditAmount += booked
                } else {
                    totals[currency, default: Totals()].debits += 1
                    totals[currency, default: Totals()].debitAmount += booked
                }
            }
        }
        bookings[line.number] = booking
    }

    private mutating func reverse(_ line: BookLine) {
        places[Self.name(line), default: []].append(line.number)
        bookings[line.number] = Booking(line: line)
        if let stopped = line.stopped { self.stopped.insert(stopped) }
        guard line.code == "00", let number = line.original, var booking = bookings[number] else { return }
        let remains = line.remains ?? 0
        let back = booking.taken - min(remains, booking.taken)
        if back > 0, let currency = booking.line.currency {
            if booking.line.isCredit == true {
                totals[currency, default: Totals()].creditReversals += 1
                totals[currency, default: Totals()].creditReversalAmount += back
            } else {
                totals[currency, default: Totals()].debitReversals += 1
                totals[currency, default: Totals()].debitReversalAmount += back
            }
        }
        booking.taken = min(remains, booking.taken)
        booking.held = min(remains, booking.held)
        booking.isReversed = remains == 0
        bookings[number] = booking
    }

    // MARK: - Looking up

    /// Type of the first sending, trace number, time and acquirer, by which a reversal names its original.
    static func name(_ type: String, _ trace: String, _ time: String, _ acquirer: String) -> String {
        "\(type) \(trace) \(time) \(acquirer.drop { $0 == "0" })"
    }

    private static func name(_ line: BookLine) -> String {
        let type = MessageType(digits: line.type.utf8)?.first.description ?? line.type
        return name(type, line.trace ?? "", line.time ?? "", line.acquirer ?? "")
    }

    /// The line of a name and a terminal; of any terminal where none is given.
    func line(_ name: String, terminal: String?) -> Booking? {
        (places[name] ?? []).compactMap { bookings[$0] }
            .first { terminal == nil || $0.line.terminal == nil || $0.line.terminal == terminal }
    }

    /// What an advice takes: an approved authorisation of the same reference and terminal that nobody has taken or reversed.
    func heldAuthorization(reference: String, terminal: String?) -> Booking? {
        (holds[reference] ?? []).compactMap { bookings[$0] }.first { $0.held > 0 && $0.line.terminal == terminal }
    }

    /// The advice that took what this authorisation held.
    func capture(of number: Int) -> Booking? {
        captures[number].flatMap { bookings[$0] }
    }

    /// Payments in the order in which they came, as lines of JSON: what a ledger is compared with.
    public var summary: [String] {
        bookings.values.filter { [.authorization, .sale, .advice].contains($0.line.event) }
            .sorted { $0.line.number < $1.line.number }
            .map { booking in
                let line = booking.line
                func text(_ value: String?) -> String { value.map { "\"\($0)\"" } ?? "null" }
                return
                    #"{"reference":\#(text(line.reference)),"terminal":\#(text(line.terminal)),"type":"\#(line.type)","#
                    + #""currency":\#(text(line.currency)),"amount":\#(line.amount ?? 0),"code":\#(text(line.code)),"#
                    + #""held":\#(booking.held),"taken":\#(booking.taken),"isCredit":\#(line.isCredit ?? false),"#
                    + #""isReversed":\#(booking.isReversed)}"#
            }
    }
}
