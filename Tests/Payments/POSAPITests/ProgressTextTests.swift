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

    @Test("D10: the labels of a result fit their column in every language", arguments: Language.allCases)
    func labels(_ language: Language) throws {
        for label in SummaryWord.labels {
            #expect((1...14).contains(language.text(label).count), "\(label) in \(language)")
            #expect(language.line(label, "x").count == 18)
        }
        #expect(
            language.text(Money(value: 1_250, currency: try #require(Currency("EUR"))))
                == (language == .german ? "12,50 EUR" : "12.50 EUR"))
    }
}
