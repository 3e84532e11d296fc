// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import POSAPI
import PaymentValues
import ReaderCore
import ReaderModels
import Settings
import Testing

@testable import ReaderPCSC
@testable import TapDaemon

@Suite("Readers that cannot take a payment", .timeLimit(.minutes(5)))
struct SuitableReaderTests {
    private func entries(_ names: String...) -> [PCSCReaders.Entry] {
        names.map { text in
            let name = PCSCReaderName(text)
            return PCSCReaders.Entry(identity: ReaderIdentity(name), slot: name.slot)
        }
    }

    @Test("Of a reader with several slots the contactless one is taken")
    func slots() throws {
        let all = entries(
            "ACS ACR1281U ICC Reader 00 00", "ACS ACR1281U PICC Reader 01 00", "ACS ACR1281U SAM Reader 02 00")
        for text in ["acr1281u", ""] {
            let devices = try PCSCReaders.suitable(in: all, matching: text)
            #expect(devices.first?.map(\.identity.name) == ["ACS ACR1281U PICC Reader 01 00"])
        }
    }

    @Test("A name of slots for cards with contacts is told from one that is not there")
    func contacts() {
        let all = entries("ACS ACR1281U ICC Reader 00 00", "ACS ACR1281U SAM Reader 02 00")
        for name in ["ACR1281U", "icc reader", "SAM"] {
            #expect(throws: ReaderError.serviceUnavailable(.unsuitableReader)) {
                try PCSCReaders.suitable(in: all, matching: name)
            }
        }
        // Any contactless reader was wanted, and none is there yet.
        for name in ["", "OMNIKEY"] {
            #expect(throws: ReaderError.serviceUnavailable(.unknownReader)) {
                try PCSCReaders.suitable(in: all, matching: name)
            }
        }
    }

    @Test("R16: a lane knows how many lanes before it may want the same reader")
    func order() throws {
        var file = ConfigurationFile(defaultsOf: ConfigurationHost())
        for (index, text) in ["ACR122U", "OMNIKEY", "acr122u", ""].enumerated() {
            file.lanes.append(ConfigurationFile.Lane(name: "till-\(index)", reader: .pcsc(text)))
        }
        let earlier = try DaemonConfiguration(file).lanes.map { lane -> Int? in
            if case .pcsc(_, _, let earlier) = lane.reader { earlier } else { nil }
        }
        #expect(earlier == [0, 0, 1, 3])
    }

    @Test("Requirement 5: a lane whose reader's model cannot do it is not prepared, and says why")
    func prepare() async throws {
        #expect(throws: ReaderError.serviceUnavailable(.unsuitableReader)) {
            try ReaderSource.checkModel(behind: "acr122_usb:001:005")
        }
        for good in ["pn53x_usb:001:004", "pn532_uart:/dev/ttyUSB0", "unheard_of"] {
            #expect(throws: Never.self) { try ReaderSource.checkModel(behind: good) }
        }
        var wish = Shop.Wish()
        wish.sources = [.libnfc("acr122_usb:001:005")]
        wish.awaitsLanes = false
        try await Shop.open(in: try TestFolder(), wish) { shop in
            let answer = try await shop.prepare("lane-0", wait: 20)
            #expect(answer.status == 503)
            let error = try answer.error()
            #expect(error.code == "reader.model_unsupported" && error.who == .administrator && !error.retryable)
            let lane = try WireJSON.decode(LaneStatus.self, from: try await shop.get("/v1/lanes/lane-0").body)
            #expect(lane.error?.code == "reader.model_unsupported" && lane.state != .ready)
        }
    }
}
