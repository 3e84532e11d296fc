// SPDX-License-Identifier: Apache-2.0

/// What a till has said of itself at its registration; without one, what holds after a log-off.
struct ZVTSession: Equatable, Sendable {
    private static let unregistered: UInt8 = 0x86

    private var configuration = unregistered
    /// The till sends a currency itself; only then is one sent to it.
    private(set) var namesCurrency = false
    /// Only a till that sent a container takes one.
    private(set) var takesContainers = false
    private(set) var takesBlocks = false

    init() {}

    init(configuration: UInt8, currency: UInt64?, container: [ZVTObject]?) {
        self.configuration = configuration
        namesCurrency = currency != nil
        takesContainers = container != nil
        takesBlocks = container?.contains { $0.tag == 0x26 && ZVTSession.lists(0x06D3, $0) } ?? false
    }

    private static func lists(_ control: UInt16, _ list: ZVTObject) -> Bool {
        do throws(ZVTFailure) {
            let bytes = [UInt8(truncatingIfNeeded: control >> 8), UInt8(truncatingIfNeeded: control)]
            return try list.objects().contains { $0.tag == 0x0A && $0.value == bytes }
        } catch {
            return false
        }
    }

    var wantsProgress: Bool { configuration & 0x08 != 0 }
    /// By print commands; without bit 80 the till makes the receipt from the result.
    var printsReceipts: Bool { configuration & 0x82 == 0x82 }

    /// As far as this one sale goes.
    func widened(by sale: ZVTSale) -> ZVTSession {
        var session = self
        session.takesContainers = takesContainers || sale.hasContainer
        session.namesCurrency = namesCurrency || sale.currency != nil
        return session
    }
}
