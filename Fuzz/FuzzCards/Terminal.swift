// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import FuzzSupport

/// A terminal that supports everything, so that every kernel is reached.
enum Terminal {
    static let aids: [(aid: [UInt8], kernel: KernelIdentifier)] = [
        ([0xA0, 0x00, 0x00, 0x00, 0x04, 0x10, 0x10], .mastercard),
        ([0xA0, 0x00, 0x00, 0x00, 0x03, 0x10, 0x10], .visa),
        ([0xA0, 0x00, 0x00, 0x00, 0x25, 0x01, 0x05], .americanExpress),
        ([0xA0, 0x00, 0x00, 0x00, 0x65, 0x10, 0x10], .jcb),
        ([0xA0, 0x00, 0x00, 0x01, 0x52, 0x30, 0x10], .discover),
        ([0xA0, 0x00, 0x00, 0x03, 0x33, 0x01, 0x01], .unionPay),
        (test(.c8)?.aid ?? [], .c8),
    ]

    static let transaction = Transaction(
        amount: 1_250, otherAmount: 100, currency: 978, exponent: 2, country: 276,
        date: EMVDate(year: 2026, month: 1, day: 15), time: EMVTime(hour: 12, minute: 0, second: 0), sequenceCounter: 1)

    static let all = TerminalConfiguration(
        terminalData: TerminalConfiguration.test.terminalData,
        combinations: aids.map { aid, kernel in
            Combination(
                aid: aid, kernel: kernel,
                limits: EntryPointLimits(
                    transactionLimit: 1_000_000, cvmRequiredLimit: 1_000, floorLimit: 5_000,
                    zeroAmountAllowed: true, ttq: TTQ(rawValue: 0xF780_4000), extendedSelection: true),
                kernelData: kernel == .c8 ? kernel8Data : kernel2Data)
        })

    private static func test(_ kernel: KernelIdentifier) -> Combination? {
        TerminalConfiguration.test.combinations.first { $0.kernel == kernel }
    }

    /// Mag-stripe mode, relay resistance and torn transactions are on, too.
    private static let kernel2Data: [DataObject] = {
        let data = test(.mastercard)?.kernelData ?? []
        return data.filter { ![0xDF811B, 0xDF811D].contains($0.tag) } + [
            DataObject(0xDF811B, [0x30]), DataObject(0xDF811C, [0x00, 0x10]), DataObject(0xDF811D, [0x02]),
        ]
    }()

    private static let kernel8Data =
        (test(.c8)?.kernelData ?? []).filter { ![0x9F8207, 0x9F8208].contains($0.tag) } + [
            DataObject(0x9F8207, [0x6C]), DataObject(0x9F8208, [0x6C]),
        ]

    /// Every key is known and every signature good: what a hostile card cannot reach is reached nevertheless.
    static let authentication: OfflineAuthentication = {
        var authentication = OfflineAuthentication(
            hasKey: { _, index in index != 0 },
            verify: { request in
                request.signature.first == 0xFF
                    ? .failed(.signatureHash)
                    : .verified(
                        AuthenticatedData(
                            iccDynamicNumber: [1, 2], dataAuthenticationCode: [3, 4],
                            cryptogram: [1, 2, 3, 4, 5, 6, 7, 8], extra: request.staticData))
            })
        authentication.secureChannel = SecureChannelCryptography(
            publicKey: { $0 + $0 },
            sessionKeys: { _, cardKey in
                guard cardKey.first != 0xFF else { return nil }
                return SecureChannelKeys(
                    apply: { _, data in data }, mac: { _ in constantMAC }, macPlus: { _ in constantMAC })
            },
            hash: { _ in [UInt8](repeating: 0x55, count: 32) },
            authenticate: { $0.caIndex == 0 ? .caKeyMissing : nil })
        return authentication
    }()

    static let constantMAC = [UInt8](repeating: 0xEE, count: 16)

    /// A script's first two answers: a directory with one application, and its FCI with a PDOL.
    static func selection(of application: (aid: [UInt8], kernel: KernelIdentifier)) -> [UInt8] {
        var directory = TLVWriter()
        directory.append(0x6F) { fci in
            fci.append(0x84, Array("2PAY.SYS.DDF01".utf8))
            fci.append(0xA5) { proprietary in
                proprietary.append(0xBF0C) { issuer in
                    issuer.append(0x61) { entry in
                        entry.append(0x4F, application.aid)
                        entry.append(0x87, [0x01])
                        entry.append(0x9F2A, [UInt8(truncatingIfNeeded: application.kernel.rawValue)])
                    }
                }
            }
        }
        var file = TLVWriter()
        file.append(0x6F) { fci in
            fci.append(0x84, application.aid)
            fci.append(0xA5) { proprietary in
                proprietary.append(0x50, Array("FUZZ".utf8))
                // Card Qualifier of kernel 8.
                proprietary.append(0x9F2C, [0x02, 0xFF, 0x00, 0xFF, 0x80, 0x00, 0x00])
                proprietary.append(0x9F38, [0x9F, 0x66, 0x04, 0x9F, 0x02, 0x06, 0x9F, 0x37, 0x04, 0x9F, 0x35, 0x01])
            }
        }
        let answers = [directory, file].map { ResponseAPDU(data: $0.bytes, status: .success) }
        return AnswerScript.input(target: [], answers)
    }
}
