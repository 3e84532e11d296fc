// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import Testing

@Suite("What a command tells while a customer taps")
struct ProgressTextTests {
    @Test func `Each end of a PIN's entry and an open link are told in English and in German`() {
        var event = Event(.pinRequested)
        event.pin = PINNotice(device: "pad", timeout: 30)
        #expect(event.progressText(in: .english) == "the customer enters the PIN on the device")
        #expect(event.progressText(in: .german) == "der Kunde gibt die PIN am Gerät ein")
        event.name = .pinCompleted
        #expect(event.progressText(in: .english) == nil)
        var told: [String?] = []
        for state: PINNotice.State in [.entered, .cancelled, .timedOut, .failed] {
            event.pin?.state = state
            told += [event.progressText(in: .english), event.progressText(in: .german)]
        }
        #expect(
            told == [
                "PIN entered", "PIN eingegeben", "PIN entry cancelled", "PIN-Eingabe abgebrochen",
                "no PIN was entered in time", "es wurde rechtzeitig keine PIN eingegeben", "the PIN device has failed",
                "das PIN-Gerät hat versagt",
            ])
        var link = Event(.linkOpened)
        #expect(link.progressText(in: .english) == nil, "an address that is not to be seen")
        let end = Timestamp(milliseconds: 1_795_683_600_000)
        link.link = OpenLink(url: "https://pay.example/1", expiresAt: end)
        #expect(link.progressText(in: .english) == "until \(end) the customer can pay at https://pay.example/1")
        #expect(link.progressText(in: .german) == "bis \(end) kann der Kunde unter https://pay.example/1 zahlen")
    }

    @Test func `A percentage is told where it is known, and what the card asks for where it asks`() {
        var event = Event(.prepareProgress)
        #expect(event.progressText(in: .english) == "preparing")
        event.percent = 25
        #expect(event.progressText(in: .german) == "Leser wird vorbereitet, 25 %")
        event.name = .readRetry
        #expect(event.progressText(in: .english) == "present the card again")
        event.message = .seePhone
        #expect(event.progressText(in: .german) == CardholderMessage.seePhone.text(in: .german))
    }

    @Test func `Where only passes are read no card is asked for`() {
        for name: EventName in [.readReadyForTap, .readCardDetected, .readCompleted] {
            for language in Language.allCases {
                let event = Event(name)
                let pass = event.progressText(in: language, readsPasses: true)
                #expect(pass != nil && pass != event.progressText(in: language), "\(name)")
            }
        }
    }

    @Test func `What the result says is not told before it`() {
        for name: EventName in [.paymentApproved, .paymentDeclined, .paymentReversed, .readCancelled] {
            #expect(Event(name).progressText(in: .english) == nil)
        }
    }

    @Test("P8: each line that a command tells meanwhile is in its language", arguments: Language.allCases.dropFirst())
    func lines(language: Language) throws {
        func told(in language: Language) -> [String] {
            var lines: [String] = []
            for name in EventName.allCases {
                for readsPasses in [false, true] {
                    lines += [Event(name).progressText(in: language, readsPasses: readsPasses)].compactMap(\.self)
                }
            }
            var retry = Event(.readRetry)
            for message in CardholderMessage.allCases {
                retry.message = message
                lines += [retry.progressText(in: language)].compactMap(\.self)
            }
            retry.error = ErrorDetail(.readCardUnsupported)
            lines += [retry.progressText(in: language)].compactMap(\.self)
            for state: PINNotice.State in [.entered, .cancelled, .timedOut, .failed] {
                var event = Event(.pinCompleted)
                event.pin = PINNotice(device: "pad", timeout: 30)
                event.pin?.state = state
                lines += [event.progressText(in: language)].compactMap(\.self)
            }
            var link = Event(.linkOpened)
            link.link = OpenLink(url: "https://pay.example/1", expiresAt: Timestamp(milliseconds: 0))
            return lines + [link.progressText(in: language)].compactMap(\.self)
                + Mode.allCases.map { $0.progressText(in: language) }
        }
        let english = told(in: .english)
        let own = told(in: language)
        #expect(own.count == english.count && english.count > 40)
        for (one, other) in zip(own, english) { #expect(one != other, "\(one)") }
    }
}
