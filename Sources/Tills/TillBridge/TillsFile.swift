// SPDX-License-Identifier: Apache-2.0
public import Codes
public import ECR
package import Linux
public import PaymentValues
public import Settings

/// The configuration file of `nfc-tap-ecr`, in TOML: a table `[[till]]` for each port or serial line.
public struct TillsFile: Sendable {
    package enum Line: Equatable, Sendable {
        case tcp(TCPAddress)
        case serial(device: String, baud: Int)
    }

    /// A table `[[till]]`: its stored properties are the table's keys, hence so many.
    public struct Till: Sendable {
        /// 1 to 32 letters, digits and dashes: the name of its ledger, and of it in the log.
        public var name: String
        public var kind: TillProtocol
        package var line: Line
        /// Addresses that may connect besides this machine's own.
        public var allowed: Set<String> = []
        public var lane: String
        public var currency: CurrencyCode
        /// Up to eight digits.
        public var terminal: UInt64 = 0
        /// Six digits; ZVT only.
        public var password: String?
        /// Names by which a browser reaches this port; hw_proxy only.
        public var hosts: Set<String> = []
        /// Pages that may use it; hw_proxy only.
        public var origins: Set<String> = []
        /// The largest refund in minor units; `nil` for none at all.
        public var refundLimit: Int64?
        /// All refunds of a day together, in minor units; `nil` for as many as are wanted.
        public var refundLimitOfDay: Int64?
        /// The till wants its answer when a payment begins, and never hears of its end; Caisse E+ only.
        public var isImmediate = false
        /// Sums are held and booked later; ZVT only, and where the payment service can.
        public var reservations = false
        /// The device id that a charger expects, 1 to 8 visible characters; ZVT only.
        public var deviceID: String?
        /// What a card that is read is held for, in minor units; `nil` for a till that reads no card ahead; ZVT only.
        public var readAmount: Int64?
        /// Minutes after a sale within which its till may reverse it; ZVT only.
        public var reversalMinutes = 15
        /// How its machine is spoken to; of a vending machine, and of no other.
        package var vending: Vending?
        /// It may sell in test mode, where no money moves, and in test mode only.
        public var isTest = false
        public var language = Language.english
        /// Characters in a line of the till's printer.
        public var receiptWidth = 32

        /// Where it is reached, for people.
        public var place: String {
            switch line {
            case .tcp(let address): "\(address)"
            case .serial(let device, let baud): "\(device) at \(baud) baud"
            }
        }
    }

    /// The daemon's socket for points of sale.
    public var socket = "/run/nfc-tap/pos.sock"
    /// Where the ledgers are.
    public var directory = "/var/lib/nfc-tap-ecr"
    public var tills: [Till] = []

    static let baudRates = [9_600, 19_200, 38_400, 57_600, 115_200]

    /// - Throws: the first thing that is wrong, with what to do about it.
    public init(path: String, host: ConfigurationHost = ConfigurationHost()) throws(ConfigurationError) {
        try self.init(file: path, text: try host.text(of: path), host: host)
    }

    /// - Parameter file: name of the file, for errors.
    public init(
        file: String, text: String, host: ConfigurationHost = ConfigurationHost()
    ) throws(ConfigurationError) {
        var top = try ConfigurationTable(file: file, text: text, host: host)
        if let socket = top.absolutePath("socket") { self.socket = socket }
        if let directory = top.absolutePath("directory") { self.directory = directory }
        let entries = top.subtables("till")
        for var entry in entries {
            if let till = Till(&entry) { tills.append(till) }
            entry.finish()
        }
        if entries.isEmpty { top.report("till", "is missing", "write [[till]] with name, protocol, listen and lane") }
        refuseSharing(&top)
        top.finish()
        if let first = top.faults.first { throw first }
    }

    /// Two tills on one lane would wait for each other's cards.
    private func refuseSharing(_ top: inout ConfigurationTable) {
        for (index, till) in tills.enumerated() {
            for other in tills[..<index] {
                if other.name == till.name {
                    top.report("till[\(index)].name", "is used twice", "give every till a name of its own")
                } else if other.lane == till.lane {
                    top.report("till[\(index)].lane", "is the lane of \(other.name)", "give every till its own lane")
                } else if other.line == till.line {
                    top.report(
                        "till[\(index)].listen", "is the line of \(other.name)", "give every till its own line")
                }
            }
        }
    }
}

extension TillsFile.Till {
    fileprivate init?(_ table: inout ConfigurationTable) {
        let name = table.text("name") ?? ""
        if !(1...32).contains(name.utf8.count) || !name.utf8.allSatisfy(TillsFile.isPlain) {
            table.report("name", "is missing or not 1 to 32 letters, digits and dashes", "write name = \"bar\"")
        }
        let kind = table.text("protocol").flatMap { TillProtocol(rawValue: $0) }
        if kind == nil {
            table.report("protocol", "is missing or unknown", "write caisse-ap, caisse-e-plus, hw-proxy, mdb or zvt")
        }
        let lane = table.text("lane")
        if lane?.isReference(upTo: 32) != true {
            table.report("lane", "is missing or not 1 to 32 visible characters", "name a lane of nfc-tapd.toml")
        }
        let currency = CurrencyCode(table.text("currency") ?? "EUR")
        if currency?.isPayable != true {
            table.report("currency", "is no currency to pay in", "write its three letters: currency = \"EUR\"")
        }
        let allowed = table.texts("allow").map { (text: $0, host: TCPAddress.normalized(host: $0)) }
        if let wrong = allowed.first(where: { $0.host == nil }) {
            table.report("allow", "has \(wrong.text), which is no address", "write addresses such as 192.168.1.20")
        }
        let line = TillsFile.line(&table, isOpen: !allowed.isEmpty, kind)
        guard let kind, let lane, let currency, let line else { return nil }
        self.init(name: name, kind: kind, line: line, lane: lane, currency: currency)
        self.allowed = Set(allowed.compactMap(\.host))
        readCommon(&table)
        readProtocol(&table)
    }

    private mutating func readCommon(_ table: inout ConfigurationTable) {
        isTest = table.flag("test") ?? false
        if let limit = table.number("refund-limit", in: 1...Int(Limits.amount)) {
            refundLimit = Int64(limit)
        }
        if let limit = table.number("refund-limit-day", in: 1...Int(Limits.amount)) {
            refundLimitOfDay = Int64(limit)
            if refundLimit == nil {
                table.report("refund-limit-day", "stands without refund-limit", "write refund-limit, too, or remove it")
            }
        }
        if let tag = table.text("language") {
            let known = Language.allCases.filter { kind != .zvt || $0.hasCodePage437 }
            if let language = known.first(where: { $0.rawValue == tag }) {
                self.language = language
            } else {
                let problem =
                    Language(rawValue: tag) == nil ? "has no texts" : "has letters that the protocol lacks"
                table.report(
                    "language", problem, "write one of \(known.map(\.rawValue).joined(separator: ", "))")
            }
        }
    }

    private mutating func readProtocol(_ table: inout ConfigurationTable) {
        switch kind {
        case .caisseAP: break
        case .caisseEPlus:
            isImmediate = table.flag("immediate") ?? false
            if currency.exponent != 2 {
                table.report(
                    "currency", "has no hundredths, and tills of caisse-e-plus disagree on its digits",
                    "connect this till by another protocol")
            }
        case .hwProxy:
            hosts = Set(table.texts("hosts"))
            origins = Set(table.texts("origins"))
            if hosts.isEmpty, case .tcp(let address) = line { hosts = [address.description] }
            if refundLimit != nil {
                table.report("refund-limit", "has no use with hw-proxy", "remove it: this protocol has no refunds")
            }
        case .mdb: readVending(&table)
        case .zvt:
            reversalMinutes = table.number("reversal-minutes", in: 0...1_440) ?? reversalMinutes
            receiptWidth = table.number("receipt-width", in: 32...48) ?? receiptWidth
            reservations = table.flag("reservations") ?? false
            if let text = table.text("device-id") {
                if text.isReference(upTo: 8) {
                    deviceID = text
                } else {
                    table.report("device-id", "is not 1 to 8 visible characters", "write device-id = \"17FD0001\"")
                }
            }
            readReading(&table)
            readPassword(&table)
        }
        guard [.hwProxy, .zvt].contains(kind), let text = table.text("terminal-id") else { return }
        if let number = UInt64(text), text.utf8.count <= 8, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            terminal = number
        } else {
            table.report("terminal-id", "is not 1 to 8 digits", "write terminal-id = \"29001006\"")
        }
    }

    private mutating func readReading(_ table: inout ConfigurationTable) {
        if let amount = table.number("read-amount", in: 1...Int(Limits.amount)) {
            readAmount = Int64(amount)
            if !reservations {
                table.report("read-amount", "stands without reservations", "write reservations = true, or remove it")
            }
        }
    }

    private mutating func readPassword(_ table: inout ConfigurationTable) {
        guard let path = table.absolutePath("password") else { return }
        password = table.attempt { () throws(ConfigurationError) in
            let bytes = try table.contents(of: path, for: "password")
            let digits = String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
            guard digits.utf8.count == 6, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                throw table.wrong("password", "names a file without six digits", "write the six digits into it")
            }
            return digits
        }
    }
}

extension TillsFile {
    fileprivate static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"): true
        default: false
        }
    }

    fileprivate static func line(
        _ table: inout ConfigurationTable, isOpen: Bool, _ kind: TillProtocol?
    ) -> Line? {
        let device = table.absolutePath("device")
        let baud = table.number("speed", in: 9_600...115_200)
        guard let text = table.text("listen") else {
            guard let device else {
                guard kind != .mdb else {
                    return table.report("device", "is missing", "write device = \"/dev/ttyAMA0\"")
                }
                return table.report("listen", "is missing", "write listen = \"127.0.0.1:20007\", or device")
            }
            guard [.zvt, .caisseEPlus, .mdb].contains(kind) else {
                return table.report("device", "is of no use to this protocol", "write listen instead")
            }
            guard baudRates.contains(baud ?? 9_600) else {
                return table.report(
                    "speed", "is not a speed of a serial line",
                    "write one of \(baudRates.map(String.init).joined(separator: ", "))")
            }
            return .serial(device: device, baud: baud ?? 9_600)
        }
        if let kind, [.caisseEPlus, .mdb].contains(kind) {
            return table.report(
                "listen", "is of no use to \(kind.rawValue)", "write device = \"/dev/ttyUSB0\" instead")
        }
        if device != nil { return table.report("device", "stands beside listen", "remove one of the two") }
        if baud != nil { return table.report("speed", "has no use with listen", "remove it") }
        guard let address = TCPAddress(text) else {
            return table.report("listen", "is no address with a port", "write listen = \"127.0.0.1:20007\"")
        }
        // Nothing in these protocols says who speaks.
        guard address.isLoopback || isOpen else {
            return table.report(
                "listen", "is reached from other machines", "name those that may connect: allow = [\"192.168.1.20\"]")
        }
        return .tcp(address)
    }
}
