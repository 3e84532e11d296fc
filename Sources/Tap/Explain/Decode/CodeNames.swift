// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Codes
import EMV

/// Names of codes that single values hold.
enum CodeNames {
    /// Payment system by AID; `US common debit (Visa)` where the application has a name beside its scheme's.
    static func scheme(_ aid: [UInt8]) -> String? {
        guard let network = PaymentNetwork(aid: aid) else {
            return Hex.string(aid) == "325041592E5359532E4444463031" ? "PPSE (2PAY.SYS.DDF01)" : nil
        }
        return network.name == network.scheme ? network.name : "\(network.name) (\(network.scheme))"
    }

    /// Kernel by RID, as Entry Point chooses it where a card names none.
    static func kernel(_ aid: [UInt8]) -> KernelIdentifier? {
        PaymentNetwork(aid: aid)?.kernel.map { KernelIdentifier(rawValue: UInt32($0)) }
    }

    static func kernelName(_ kernel: KernelIdentifier) -> String {
        switch kernel {
        case .legacy: "kernel 1"
        case .mastercard: "kernel 2 (Mastercard)"
        case .visa: "kernel 3 (Visa)"
        case .americanExpress: "kernel 4 (American Express)"
        case .jcb: "kernel 5 (JCB)"
        case .discover: "kernel 6 (Discover)"
        case .unionPay: "kernel 7 (UnionPay)"
        case .c8: "kernel 8 (EMVCo)"
        case _: "kernel \(Hex.string(Tag(kernel.rawValue).bytes))"
        }
    }

    /// 9C.
    static func transactionType(_ code: UInt8) -> String {
        switch code {
        case 0x00: "purchase"
        case 0x01: "cash"
        case 0x02: "adjustment"
        case 0x09: "purchase with cashback"
        case 0x17: "cash disbursement"
        case 0x20: "refund"
        case 0x31: "balance inquiry"
        case _: "transaction type \(Hex.string([code]))"
        }
    }

    /// 9F35 (EMV Book 4 Annex A1, unverified).
    static func terminalType(_ code: UInt8) -> String {
        let operatedBy =
            switch code >> 4 {
            case 1: "financial institution"
            case 2: "merchant"
            case 3: "cardholder"
            case _: "reserved operator"
            }
        let use =
            switch code & 0x0F {
            case 1: "attended, online only"
            case 2: "attended, offline with online capability"
            case 3: "attended, offline only"
            case 4: "unattended, online only"
            case 5: "unattended, offline with online capability"
            case 6: "unattended, offline only"
            case _: "reserved use"
            }
        return "\(operatedBy), \(use)"
    }

    /// 9F39.
    static func entryMode(_ code: UInt8) -> String {
        switch code {
        case 0x05: "contact chip"
        case 0x07: "contactless chip"
        case 0x80: "magnetic stripe after chip fallback"
        case 0x90: "magnetic stripe"
        case 0x91: "contactless mag-stripe"
        case _: "entry mode \(Hex.string([code]))"
        }
    }

    /// SW1 SW2 (ISO/IEC 7816-4 §5.6).
    static func statusWord(_ status: StatusWord) -> String {
        switch status.rawValue {
        case 0x9000: "success"
        case 0x6283: "selected file deactivated (application blocked)"
        case 0x6300: "authentication failed"
        case 0x6400: "execution error, state unchanged"
        case 0x6581: "memory failure"
        case 0x6700: "wrong length"
        case 0x6882: "secure messaging not supported"
        case 0x6982: "security status not satisfied"
        case 0x6983: "authentication method blocked"
        case 0x6984: "referenced data invalidated"
        case 0x6985: "conditions of use not satisfied"
        case 0x6986: "command not allowed"
        case 0x6988: "incorrect secure messaging data objects"
        case 0x6A80: "incorrect parameters in the data field"
        case 0x6A81: "function not supported (card locked)"
        case 0x6A82: "file or application not found"
        case 0x6A83: "record not found"
        case 0x6A86: "incorrect P1 P2"
        case 0x6A88: "referenced data not found"
        case 0x6B00: "wrong P1 P2"
        case 0x6D00: "instruction not supported"
        case 0x6E00: "class not supported"
        case 0x6F00: "no precise diagnosis"
        case _: statusRange(status)
        }
    }

    private static func statusRange(_ status: StatusWord) -> String {
        switch status.sw1 {
        case 0x61: "success, \(status.sw2 == 0 ? 256 : Int(status.sw2)) more bytes by GET RESPONSE"
        case 0x62: "warning, state unchanged"
        case 0x63 where status.sw2 & 0xF0 == 0xC0: "counter is \(status.sw2 & 0x0F)"
        case 0x63: "warning, state changed"
        case 0x6C: "wrong Le, right is \(status.sw2 == 0 ? 256 : Int(status.sw2))"
        case 0x64...0x6F: "error"
        case _: "unknown status word"
        }
    }

    /// Instructions of contactless payment cards; `nil` for others.
    static func command(_ command: CommandAPDU) -> String? {
        switch (command.cla, command.ins) {
        case (0x00, 0xA4): "SELECT"
        case (0x00, 0xB2): "READ RECORD"
        case (0x00, 0xC0): "GET RESPONSE"
        case (0x00, 0x82): "EXTERNAL AUTHENTICATE"
        case (0x00, 0x84): "GET CHALLENGE"
        case (0x00, 0x88): "INTERNAL AUTHENTICATE"
        case (0x00, 0x20): "VERIFY"
        case (0x00, 0xB0): "READ BINARY"
        case (0x80, 0xA8): "GET PROCESSING OPTIONS"
        case (0x80, 0xAE): "GENERATE AC"
        case (0x80, 0xCA): "GET DATA"
        case (0x80, 0xDA): "PUT DATA"
        case (0x80, 0x2A): "COMPUTE CRYPTOGRAPHIC CHECKSUM"
        case (0x80, 0xEA): "EXCHANGE RELAY RESISTANCE DATA"
        case (0x80, 0xD0), (0x00, 0xD0): "RECOVER AC"
        case (0x80, 0xDF): "ECHO"
        case (0x80, 0x1A): "SEND POI INFORMATION"
        case (0x84, 0x32): "READ DATA"
        case (0x84, 0x34): "WRITE DATA"
        case (0xFF, 0xCA): "GET DATA of the reader (PC/SC part 3)"
        case _: nil
        }
    }
}
