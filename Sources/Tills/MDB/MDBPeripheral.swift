// SPDX-License-Identifier: Apache-2.0
/// A cashless peripheral of a vending machine, level 3 at most, by MDB/ICP 4.2 chapter 7. It answers in the call that brings a
/// command's last word, and never waits: what takes time is told at a later poll.
///
/// A machine takes "no failure" for sold, the reverse of a till: an approval that it has acknowledged is confirmed by a success, a
/// reset, or time; one that it has not is taken back.
public struct MDBPeripheral: Sendable {
    public struct Settings: Sendable {
        /// 10 or 60.
        public var address: UInt8
        public var level: UInt8
        public var prices: MDBPrices
        /// Seconds within which an approval comes (Z7).
        public var responseSeconds: UInt8
        /// Seconds after an approval within which the machine says what became of the goods.
        public var vendSeconds: UInt16
        /// 12 characters.
        public var serial: String
        /// Two letters of ISO 639, for the expanded form.
        public var language: String

        public init(
            prices: MDBPrices, isSecond: Bool = false, level: UInt8 = 3, responseSeconds: UInt8 = 30,
            vendSeconds: UInt16 = 60, serial: String = "000000000001", language: String = "en"
        ) {
            self.prices = prices
            address = isSecond ? 0x60 : 0x10
            self.level = min(max(level, 1), 3)
            self.responseSeconds = responseSeconds
            self.vendSeconds = min(vendSeconds, 300)
            self.serial = serial
            self.language = language
        }
    }

    public enum State: UInt8, Sendable {
        case inactive = 1
        case disabled, enabled, session, vend
    }

    /// What is told at a poll, and what is so once it was sent.
    struct Message: Equatable, Sendable {
        enum Kind: Equatable, Sendable {
            case begin, approved, denied, end, plain
        }

        var bytes: [UInt8]
        var kind: Kind = .plain
    }

    static let bigMoney: UInt32 = 0x02
    static let alwaysIdle: UInt32 = 0x20
    /// Of a block, with its checksum.
    static let longestBlock = 36

    public let settings: Settings
    public internal(set) var state: State = .inactive
    public internal(set) var sale: MDBSale?
    /// Of the sale that was asked for last.
    public private(set) var counter: UInt64
    /// What the machine said of itself.
    var machineLevel: UInt8 = 1
    var isSetUp = false
    var features: UInt32 = 0
    /// The machine asks for goods without a card first.
    public var isAlwaysIdle: Bool { features & Self.alwaysIdle != 0 }
    /// Prices have come in 32 bits.
    var isExpanded: Bool { features & Self.bigMoney != 0 }
    var level: UInt8 { min(settings.level, machineLevel) }
    /// What the session holds; `nil` without a session of a card.
    var session: Session?
    var disablesLater = false
    /// Polls get no answer until the money of this sale is back.
    var givingBack: UInt64?
    var out = Outbox()
    private var incoming = Incoming()
    /// The command before, to which the answer may have been lost.
    var former: [UInt8] = []

    /// What is told, and what of it was heard.
    struct Outbox: Sendable {
        var messages: [Message] = []
        /// How many of the first were sent and not acknowledged.
        var unacknowledged = 0
        /// The block that was sent last, for RET.
        var lastBlock: [UInt16] = []
        /// The next word may answer the block that was sent: of a command whose address was lost a later byte reads like an answer.
        var awaitsAnswer = false
        /// A block that answers a command at once.
        var direct: [UInt8]?
    }

    /// A command that is not whole.
    private struct Incoming {
        var block: [UInt8] = []
        var isOurs = false
    }

    struct Session: Equatable, Sendable {
        /// In minor units; `nil` where it is not told.
        var held: Int64?
        var isUsed = false
    }

    /// - Parameter counter: the highest number that was ever given out.
    public init(_ settings: Settings, counter: UInt64 = 0) {
        self.settings = settings
        self.counter = counter
        out.messages = [Message(bytes: [0x00])]
    }

    // MARK: - Words

    /// - Returns: the answer, if any, before whatever else follows from the command.
    public mutating func receive(_ word: UInt16) -> [MDBEffect] {
        var effects: [MDBEffect] = []
        let byte = UInt8(truncatingIfNeeded: word)
        let isAnswer = out.awaitsAnswer
        out.awaitsAnswer = false
        if word & MDBLine.modeBit != 0 {
            incoming.isOurs = byte & 0xF8 == settings.address
            incoming.block = [byte]
        } else if incoming.block.isEmpty {
            if isAnswer { answered(word, &effects) }
            return effects
        } else if incoming.block.count <= Self.longestBlock {
            incoming.block.append(byte)
        }
        guard incoming.isOurs else {
            // Of another peripheral: whatever follows up to the next address is none of ours.
            return effects
        }
        guard let length = MDBCommand.length(incoming.block, isExpanded: isExpanded && !isFirstPrices) else {
            return effects
        }
        guard length > 0, incoming.block.count == length else { return effects }
        let whole = incoming.block
        incoming.block = []
        incoming.isOurs = false
        guard MDBLine.checksum(whole.dropLast()) == whole.last else { return effects }
        commanded(whole, &effects)
        return effects
    }

    /// The prices come in 16 bits before the machine has said that it wants 32.
    private var isFirstPrices: Bool { state == .inactive }

    private mutating func answered(_ word: UInt16, _ effects: inout [MDBEffect]) {
        switch word {
        case MDBLine.acknowledge: acknowledged(&effects)
        case MDBLine.again:
            guard !out.lastBlock.isEmpty else { break }
            out.awaitsAnswer = true
            effects.append(.send(out.lastBlock))
        // NAK, or noise: at the next poll again.
        default: break
        }
    }

    /// The machine has the block that was sent last.
    mutating func acknowledged(_ effects: inout [MDBEffect]) {
        out.lastBlock = []
        if out.direct != nil {
            out.direct = nil
            return
        }
        let told = out.messages.prefix(out.unacknowledged)
        out.messages.removeFirst(told.count)
        out.unacknowledged = 0
        if told.contains(where: { $0.kind == .approved }) { approvalIsKnown(&effects) }
    }

    // MARK: - Sending

    mutating func send(_ bytes: [UInt8], _ effects: inout [MDBEffect]) {
        out.lastBlock = MDBLine.block(bytes)
        out.awaitsAnswer = true
        effects.append(.send(out.lastBlock))
    }

    mutating func poll(_ effects: inout [MDBEffect]) {
        if let direct = out.direct { return send(direct, &effects) }
        if givingBack != nil { return }
        if out.unacknowledged == 0 {
            out.unacknowledged = blockCount
        }
        guard out.unacknowledged > 0 else { return effects.append(.send(MDBLine.acknowledged)) }
        let messages = Array(out.messages.prefix(out.unacknowledged))
        send(messages.flatMap(\.bytes), &effects)
        for message in messages { sent(message.kind) }
    }

    /// How many messages go in one block. An approval goes alone: a machine that looks at the first one only, and acknowledges all, has
    /// not heard of it.
    private var blockCount: Int {
        guard out.messages.first?.kind != .approved else { return 1 }
        var size = 1
        return out.messages.prefix { message in
            size += message.bytes.count
            return size <= Self.longestBlock && message.kind != .approved
        }.count
    }

    private mutating func sent(_ kind: Message.Kind) {
        switch kind {
        case .begin: if state == .enabled { state = .session }
        case .denied: if state == .vend { state = .session }
        case .end:
            if state == .session { state = disablesLater ? .disabled : .enabled }
            disablesLater = false
        case .approved, .plain: break
        }
    }

    mutating func tell(_ bytes: [UInt8], _ kind: Message.Kind = .plain) {
        out.messages.append(Message(bytes: bytes, kind: kind))
    }

    /// Takes back what was not told, or not heard.
    mutating func dropMessages(_ isDropped: (Message.Kind) -> Bool) {
        out.messages.removeAll { isDropped($0.kind) }
        // A block that was sent is another one now.
        out.unacknowledged = 0
        out.lastBlock = []
    }

    func number(_ value: UInt32) -> [UInt8] {
        let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
        return isExpanded ? bytes : Array(bytes.suffix(2))
    }

    // MARK: - Sales

    mutating func begin(_ value: UInt32, _ amount: Int64, _ item: UInt16) -> MDBSale {
        counter += 1
        let new = MDBSale(number: counter, amount: amount, value: value, item: item)
        sale = new
        return new
    }
}
