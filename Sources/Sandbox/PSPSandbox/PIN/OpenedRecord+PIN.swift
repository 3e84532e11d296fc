// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Envelope
import PINDeviceAPI
import PSPAPI

extension SandboxStore {
    /// A device uses a key serial number once: a block that comes again is an old one, whoever gives it.
    func isFresh(_ pin: OnlinePIN?) throws(StoreError) -> Bool {
        guard let pin, let serial = pin.ksn else { return true }
        return try noteOnce("ksn \(pin.keySet) \(serial.uppercased())")
    }
}

extension OpenedRecord {
    /// The PIN of every test card.
    static let testPIN: [UInt8] = [1, 2, 3, 4]

    /// Opens the PIN block of a request, as the test cards' issuer would, and compares. A card that was promised a PIN gets
    /// no approval without one.
    func checkPIN(of request: AuthorizationRequest) throws(EnvelopeFault) {
        guard request.cvm == .onlinePIN || request.pin != nil else { return }
        guard request.cvm == .onlinePIN, let pin = request.pin else { throw .noPIN }
        try check(pin)
    }

    /// The same for a block that comes after an answer.
    func check(_ pin: OnlinePIN) throws(EnvelopeFault) {
        guard let keySet = TestPINKeys.KeySet(rawValue: pin.keySet),
            let format = PINBlock.Format(rawValue: pin.format), let serial = pin.ksn.flatMap({ try? Hex.bytes($0) }),
            let block = try? Hex.bytes(pin.block)
        else { throw .noPIN }
        let entered = TestPINKeys.pin(in: block, serial: serial, of: keySet, format: format, number: digits)
        guard entered == OpenedRecord.testPIN else { throw .wrongPIN }
    }
}
