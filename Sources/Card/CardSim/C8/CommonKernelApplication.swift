// SPDX-License-Identifier: Apache-2.0
public import CardBytes
import Crypto
import EMVCrypto

/// An application for kernel 8 (EMV Contactless Book C-8): secure channel, encrypted records, MACs over the whole
/// transaction, data envelopes.
public struct CommonKernelApplication: PaymentApplication {
    public internal(set) var files: ApplicationFiles
    /// Values of records that go out encrypted.
    let encrypted: [ApplicationFiles.RecordName: [UInt8]]
    /// 82.
    let interchangeProfile: [UInt8]
    /// 94.
    let locator: [UInt8]
    /// 8C.
    let cdol: DOL
    let staticDataHash: [UInt8]
    let pan: [UInt8]
    let sequence: UInt8
    let disposition: CardDisposition
    let options: CommonKernelOptions

    var counter = TransactionCounter()
    /// Data envelopes by tag: they outlive the session.
    var envelopes: [Tag: [UInt8]]
    var session: Session?

    /// What one transaction knows.
    struct Session: Sendable {
        var channel: CommonKernelChannel
        var terminal: TransactionData
        /// Terminal entropy and this card's answer of the last relay-resistance exchange.
        var relayData: [UInt8] = []
        /// GENERATE AC has been answered.
        var isClosed = false
        /// The kernel announced WRITE DATA.
        var expectsData = false
    }

    init(
        files: ApplicationFiles, encrypted: [ApplicationFiles.RecordName: [UInt8]], interchangeProfile: [UInt8],
        locator: [UInt8], cdol: [UInt8], staticDataHash: [UInt8], card: CardPersonalisation,
        disposition: CardDisposition, options: CommonKernelOptions
    ) {
        self.files = files
        self.encrypted = encrypted
        self.interchangeProfile = interchangeProfile
        self.locator = locator
        self.cdol = (try? DOL(cdol)) ?? DOL(entries: [])
        self.staticDataHash = staticDataHash
        pan = card.pan
        sequence = card.sequence
        self.disposition = disposition
        self.options = options
        envelopes = [0x9F8111: options.envelope]
    }

    public mutating func restart() { session = nil }

    public mutating func answer(_ command: CommandAPDU) -> ResponseAPDU {
        switch (command.cla, command.ins) {
        case (0x80, 0xA8):
            switch files.processingOptions(command) {
            case .success(let data): process(data)
            case .failure(let refusal): ResponseAPDU(status: refusal.status)
            }
        case (0x80, 0xEA): exchangeRelayData(command)
        case (0x00, 0xB2): readEncrypted(command)
        case (0x84, 0x32): readData(command)
        case (0x80, 0xAE): generateCryptogram(command)
        case (0x84, 0x34): writeData(command)
        case (_, 0xAE): ResponseAPDU(status: .classNotSupported)
        default: refusal(of: command)
        }
    }

    /// The blinding factor comes from the counter, so that a run can be repeated; a real card takes a random one.
    private mutating func process(_ terminal: TransactionData) -> ResponseAPDU {
        guard session == nil, counter.advance() else { return ResponseAPDU(status: .conditionsNotSatisfied) }
        let blindingFactor = Array(SHA256.hash(data: pan + counter.bytes))
        guard let channel = CommonKernelChannel(kernelKey: terminal[0x9E] ?? [], blindingFactor: blindingFactor) else {
            return ResponseAPDU(status: .conditionsNotSatisfied)
        }
        session = Session(channel: channel, terminal: terminal)
        return template77([
            (0x82, interchangeProfile), (0x94, locator), (0x9F8103, channel.keyData),
            (0x8C, CommonKernelApplication.cdolList),
        ])
    }

    /// EXCHANGE RELAY RESISTANCE DATA. Times in units of 100 µs: at least 0, at most 10 ms, 2.4 ms for the answer.
    private mutating func exchangeRelayData(_ command: CommandAPDU) -> ResponseAPDU {
        guard session?.isClosed == false else { return ResponseAPDU(status: .conditionsNotSatisfied) }
        guard command.data.count == 4 else { return ResponseAPDU(status: .wrongLength) }
        let entropy = Array(SHA256.hash(data: pan + counter.bytes + command.data).prefix(4))
        let answer = entropy + [0x00, 0x00, 0x00, 0x64, 0x00, 0x18]
        session?.relayData = command.data + answer
        return ResponseAPDU(data: [0x80, 0x0A] + answer, status: .success)
    }

    /// READ RECORD of an encrypted record: template DA.
    private mutating func readEncrypted(_ command: CommandAPDU) -> ResponseAPDU {
        guard command.data.isEmpty, command.p2 & 0x07 == 0x04,
            let content = encrypted[.init(command.p2 >> 3, command.p1)]
        else { return files.refusal(ofRecord: command) }
        guard session?.isClosed == false, let sealed = session?.channel.encrypt(content) else {
            return ResponseAPDU(status: .conditionsNotSatisfied)
        }
        var writer = TLVWriter()
        writer.append(0xDA, sealed)
        return ResponseAPDU(data: writer.bytes, status: .success)
    }
}
