// SPDX-License-Identifier: Apache-2.0
import PaymentValues

/// Body of `POST /v1/lanes/{lane}/card-commands`: what is sent to the card, as it is and in this order.
public struct CardCommandsRequest: Equatable, Sendable {
    /// Short command APDUs in hexadecimal.
    public var commands: [String]
    /// Seconds within which the card must be presented.
    public var deadline: Int?

    public init(_ commands: [String], deadline: Int? = nil) {
        self.commands = commands
        self.deadline = deadline
    }
}

extension CardCommandsRequest: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case commands, deadline
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self)
        commands = try members.decode([String].self, forKey: .commands)
        deadline = members.contains(.deadline) ? try members.decodeWhole(Int.self, forKey: .deadline) : nil
        guard Limits.cardCommands.contains(commands.count), commands.allSatisfy(\.isCardCommand) else {
            throw decoder.refusal(.requestInvalidField, at: CodingKeys.commands)
        }
        if let deadline, !Limits.cardCommandDeadlineSeconds.contains(deadline) {
            throw decoder.refusal(.requestInvalidField, at: CodingKeys.deadline)
        }
    }
}

extension String {
    fileprivate var isCardCommand: Bool {
        Limits.cardCommandDigits.contains(utf8.count) && utf8.count.isMultiple(of: 2)
            && utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x46).contains($0 & 0xDF) }
    }
}
