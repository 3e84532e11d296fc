// SPDX-License-Identifier: Apache-2.0
import CardSim
import Foundation
import Rigs

/// `rig-card NAME PORT`: lays a card of `CardCatalogue` onto the emulated USB reader that waits on that loopback port,
/// and takes it off when the program ends.
@main
struct RigCard {
    static func main() {
        let words = CommandLine.arguments.dropFirst()
        guard words.count == 2, let name = words.first, let port = words.last.flatMap({ UInt16($0) }),
            let card = CardCatalogue.card(named: name)
        else {
            FileHandle.standardError.write(Data("usage: rig-card CARD PORT\n".utf8))
            exit(64)
        }
        do throws(RigError) {
            try runVPCDCard(card, port: port)
        } catch {
            FileHandle.standardError.write(Data("rig-card: \(error)\n".utf8))
            exit(1)
        }
    }
}
