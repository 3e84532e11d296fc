// Feeds what a hostile card could send to everything that parses it. The first byte chooses the target.

import CFuzz
import CardBytes
import EMV
import Glibc

/// Cuts the input into answers: a length byte, then that many bytes; the last two of each are the status word unless the
/// length byte's top bit asks for 9000.
struct AnswerScript {
    private let bytes: [UInt8]
    private var offset: Int

    init(_ bytes: [UInt8], from offset: Int) {
        self.bytes = bytes
        self.offset = offset
    }

    mutating func next() -> ResponseAPDU? {
        guard offset < bytes.count else { return nil }
        let head = bytes[offset]
        let end = min(bytes.count, offset + 1 + Int(head & 0x7F) * 2)
        let data = Array(bytes[(offset + 1)..<end])
        offset = end
        if head & 0x80 != 0 { return ResponseAPDU(data: data, status: .success) }
        do throws(APDUError) { return try ResponseAPDU(data) } catch { return nil }
    }
}

let transaction = Transaction(
    amount: 1_250, currency: 978, exponent: 2, country: 276, date: EMVDate(year: 2026, month: 1, day: 15),
    time: EMVTime(hour: 12, minute: 0, second: 0), sequenceCounter: 1)

/// Every machine must finish within a bounded number of steps, whatever it is sent.
func run<Machine: TapMachine & ~Copyable>(_ machine: inout Machine, _ script: inout AnswerScript) {
    let now = TapInstant(nanoseconds: 0)
    var step = machine.start(now: now)
    var presentations = 0
    for _ in 0..<2_000 {
        switch step.action {
        case .finished: return
        case .activate:
            presentations += 1
            if presentations > 4 {
                _ = machine.stop(now: now)
                return
            }
            step = machine.activated(CardActivation(), now: now)
        case .transmit:
            if let answer = script.next() {
                step = machine.received(answer, now: now)
            } else {
                step = machine.cardLost(now: now)
            }
        }
    }
    abort()
}

func fuzz(_ input: [UInt8]) {
    guard let target = input.first else { return }
    switch target % 4 {
    case 0:
        if let nodes = try? TLV.nodes(Array(input.dropFirst())) {
            for node in nodes where node.value.upperBound > input.count { abort() }
        }
    case 1:
        if let dol = try? DOL(Array(input.dropFirst())) { _ = dol.fill { _ in ([1, 2, 3], .n) } }
    case 2:
        var script = AnswerScript(input, from: 1)
        var machine = EntryPoint(
            configuration: .test, transaction: transaction, unpredictableNumbers: .fixed([0x0102_0304]))
        run(&machine, &script)
    default:
        var script = AnswerScript(input, from: 1)
        var machine = CardInspection(terminalData: [])
        run(&machine, &script)
    }
}

var argumentCount = CommandLine.argc
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe CommandLine.unsafeArgv
exit(
    unsafe LLVMFuzzerRunDriver(&argumentCount, &arguments) { data, size in
        if let data = unsafe data { fuzz(unsafe Array(UnsafeBufferPointer(start: data, count: size))) }
        return 0
    })
