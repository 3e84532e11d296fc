// SPDX-License-Identifier: Apache-2.0
import Loyalty
import POSAPI
import Testing

@testable import TapDaemon

@Suite("Whether a phone shows the right pass by itself")
struct PassAutoSelectionTests {
    static let readers: [(driver: String, model: String, selection: PassAutoSelection)] = [
        ("libnfc", "PN532", .pollingFrames), ("libnfc", "PN533", .pollingFrames),
        ("libnfc", "libnfc device", .unavailable(.chipCannot)),
        ("pcsc", "ACS ACR122U PICC", .unavailable(.readerPollsItself)),
        ("virtual", "nfc-tap virtual reader", .unavailable(.noRadio)), ("replay", "replay", .unavailable(.noRadio)),
    ]

    @Test("Only a chip that sends the polling frames is said to do so", arguments: readers)
    func honest(driver: String, model: String, selection: PassAutoSelection) {
        #expect(
            PassAutoSelection(LaneStatus.Reader(name: "reader", model: model, driver: driver)) == selection)
    }
}
