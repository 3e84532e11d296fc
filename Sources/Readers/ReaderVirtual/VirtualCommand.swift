// SPDX-License-Identifier: Apache-2.0
/// What a virtual reader can be told, one line of text each.
public enum VirtualCommand: Equatable, Sendable {
    /// `present NAME`: a card enters the empty field.
    case present(String)
    /// `swap NAME`: another card takes the place of the one in the field, without a gap.
    case swap(String)
    /// `remove`: nothing is left in the field.
    case remove
    /// `collide`: a second card joins whatever is in the field, until `remove`.
    case collide
    /// `delay MS`: every answer comes that many milliseconds later.
    case delay(milliseconds: UInt64)
    /// `fault …`: one command to come goes wrong; see `VirtualFault`.
    case fault(VirtualFault)
    /// `fault none`: faults that have not happened yet never will.
    case clearFaults
    /// `detach` and `attach`: the reader is unplugged and plugged in again.
    case detach, attach
    /// `hang` and `resume`: no call to the reader returns in between, whatever its deadline.
    case hang, resume
    /// `state`: says what is going on, changes nothing.
    case state

    /// Longest line that is read, in bytes.
    public static let longestLine = 256
    /// Longest `delay`, in milliseconds.
    public static let longestDelay: UInt64 = 60_000

    /// Reads one line; blanks between words do not count.
    ///
    /// - Throws: `VirtualCommandError`, naming the word that is wrong.
    public init(_ line: String) throws(VirtualCommandError) {
        guard line.utf8.count <= VirtualCommand.longestLine else { throw .tooLong }
        var words = VirtualCommandWords(line)
        let verb = try words.next(.command)
        switch verb {
        case "present": self = .present(try words.next(.cardName))
        case "swap": self = .swap(try words.next(.cardName))
        case "remove": self = .remove
        case "collide": self = .collide
        case "delay": self = .delay(milliseconds: try words.number(.milliseconds, in: 0...VirtualCommand.longestDelay))
        case "fault": self = try VirtualCommand(faultFrom: &words)
        case "detach": self = .detach
        case "attach": self = .attach
        case "hang": self = .hang
        case "resume": self = .resume
        case "state": self = .state
        default: throw .unknownCommand(verb)
        }
        try words.end(after: verb)
    }

    private init(faultFrom words: inout VirtualCommandWords) throws(VirtualCommandError) {
        let counts: ClosedRange<UInt64> = 1...VirtualFault.furthest
        let kind = try words.next(.fault)
        switch kind {
        case "none":
            self = .clearFaults
        case "card-gone":
            try words.expect("after")
            self = .fault(VirtualFault(.cardGone, at: try words.number(.count, in: 0...VirtualFault.furthest - 1) + 1))
        case "status":
            let status = try words.statusWord()
            try words.expect("at")
            self = .fault(VirtualFault(.status(status), at: try words.number(.count, in: counts)))
        case "mute":
            try words.expect("at")
            self = .fault(VirtualFault(.mute, at: try words.number(.count, in: counts)))
        case "garbage":
            try words.expect("at")
            self = .fault(VirtualFault(.garbage, at: try words.number(.count, in: counts)))
        default:
            throw .unknownFault(kind)
        }
    }
}
