// SPDX-License-Identifier: Apache-2.0
import ECR
import TestSupport
import Testing

@testable import TillBridge

@Suite("The places at a till's port")
struct TillPlacesTests {
    private func give(_ place: TillPlaces<Int>.Place) -> Int? {
        switch place {
        case .free: 0
        case .of(let line): line
        case .none: nil
        }
    }

    @Test("A4: whoever has sent nothing gives way, the oldest first, and a till that has sent something never")
    func silentOnesGiveWay() {
        var places = TillPlaces<Int>(most: 16)
        // A till, then two hundred that say nothing.
        #expect(give(places.enter(TillConnection(1), 1)) == 0)
        places.speak(TillConnection(1))
        for number in 2...16 { #expect(give(places.enter(TillConnection(UInt64(number)), number)) == 0) }
        for number in 17...201 { #expect(give(places.enter(TillConnection(UInt64(number)), number)) == number - 15) }
        for number in 187...201 { places.speak(TillConnection(UInt64(number))) }
        #expect(give(places.enter(TillConnection(300), 300)) == nil, "each of them speaks")
        places.leave(TillConnection(1))
        #expect(give(places.enter(TillConnection(301), 301)) == 0)
        #expect(give(places.enter(TillConnection(302), 302)) == 301)
        // One that was sent away leaves nothing behind, nor takes anything with it.
        places.leave(TillConnection(301))
        places.speak(TillConnection(301))
        #expect(give(places.enter(TillConnection(303), 303)) == 302)
    }

    @Test("A6: the bridge's unit has descriptors for a till of any kind on each of 64 lanes")
    func unit() throws {
        let most = try #require(try Checkout.number("LimitNOFILE", ofUnit: "nfc-tap-ecr.service"))
        for kind in TillProtocol.allCases {
            let tills = (0..<64).map { number in
                """
                [[till]]
                name = "t\(number)"
                protocol = "\(kind.rawValue)"
                \([.caisseEPlus, .mdb].contains(kind) ? "device = \"/dev/ttyUSB\(number)\"" : "listen = \"127.0.0.1:\(20_000 + number)\"")
                lane = "l\(number)"

                """
            }
            let file = try TillsFile(file: "f.toml", text: tills.joined())
            #expect(file.tills.count == 64 && TillBridge.descriptors(file) <= most, "\(kind)")
        }
    }
}
