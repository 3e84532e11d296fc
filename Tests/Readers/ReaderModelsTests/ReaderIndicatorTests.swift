// SPDX-License-Identifier: Apache-2.0
import ReaderCore
import ReaderModels
import Testing

struct ReaderIndicatorTests {
    @Test func `an ACR122U turns green and beeps once for an approval`() {
        #expect(
            ReaderIndicator.pseudoAPDU.commands(for: .approved)
                == [.init(channel: .transmit, bytes: [0xFF, 0x00, 0x40, 0x0E, 0x04, 1, 1, 1, 1])])
    }

    @Test func `an ACR122U turns red and beeps three times when the issuer declines`() {
        #expect(
            ReaderIndicator.pseudoAPDU.commands(for: .declined)
                == [.init(channel: .transmit, bytes: [0xFF, 0x00, 0x40, 0x0D, 0x04, 1, 1, 3, 1])])
    }

    @Test func `an idle ACR122U is dark and silent`() {
        #expect(
            ReaderIndicator.pseudoAPDU.commands(for: .idle)
                == [.init(channel: .transmit, bytes: [0xFF, 0x00, 0x40, 0x0C, 0x04, 0, 0, 0, 0])])
    }

    @Test func `later readers take a command each for LED and buzzer`() {
        let commands = ReaderIndicator.escape(green: 0x02, red: 0x01).commands(for: .approved)
        #expect(
            commands == [
                .init(channel: .escape, bytes: [0xE0, 0, 0, 0x29, 1, 0x02]),
                .init(channel: .escape, bytes: [0xE0, 0, 0, 0x28, 1, 10]),
            ])
    }

    @Test func `each model's own LED bits are used`() {
        let commands = ReaderIndicator.escape(green: 0x01, red: 0x02).commands(for: .processing)
        #expect(commands == [.init(channel: .escape, bytes: [0xE0, 0, 0, 0x29, 1, 0x03])])
    }

    @Test(arguments: ReaderFeedback.allCases)
    func `a reader without lights is sent nothing`(feedback: ReaderFeedback) {
        #expect(ReaderIndicator.none.commands(for: feedback).isEmpty)
    }

    @Test(arguments: [ReaderIndicator.pseudoAPDU, .escape(green: 0x02, red: 0x01)])
    func `good and bad answers never look alike`(indicator: ReaderIndicator) {
        for bad in [ReaderFeedback.declined, .tryAgain, .error] {
            #expect(indicator.commands(for: bad) != indicator.commands(for: .approved))
            #expect(indicator.commands(for: bad) != indicator.commands(for: .ready))
        }
        #expect(indicator.commands(for: .declined) != indicator.commands(for: .tryAgain))
    }

    @Test(arguments: [ReaderIndicator.pseudoAPDU, .escape(green: 0x02, red: 0x01)])
    func `a lane without sound keeps the lamps, and one that is off sends nothing`(indicator: ReaderIndicator) {
        for feedback in ReaderFeedback.allCases {
            let silent = indicator.commands(for: feedback, level: .lights)
            #expect(silent.count == 1)
            // No buzzer command, and no repetitions with the buzzer on.
            for command in silent {
                #expect(!command.bytes.starts(with: [0xE0, 0, 0, 0x28]))
                #expect(command.channel == .escape || command.bytes.suffix(2) == [0, 0])
            }
            #expect(indicator.commands(for: feedback, level: .off).isEmpty)
        }
    }

    @Test(arguments: ["ACS ACR122U", "ACS ACR1252U", "ACS ACR1255U-J1", "ACS ACR1281U"])
    func `a model whose maker prints the commands has a pattern for each moment`(name: String) throws {
        let model = try #require(ReaderModels.model(named: name))
        let patterns = [ReaderFeedback.ready, .read, .declined, .tryAgain].map { model.indicator.commands(for: $0) }
        #expect(Set(patterns.map { "\($0)" }).count == patterns.count)
    }

    @Test(arguments: [
        "ACS ACR1581U", "SCM SCL3711", "Identiv uTrust 3700 F", "HID OMNIKEY 5022", "HID OMNIKEY 5427 CK",
        "PN532 board", "NXP PN533",
    ])
    func `a model of which no command is known is left to its firmware`(name: String) throws {
        #expect(try #require(ReaderModels.model(named: name)).indicator == .none)
    }
}
