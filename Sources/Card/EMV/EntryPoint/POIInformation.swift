// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// SEND POI INFORMATION (EMV Contactless Book B §3.3.2.3 and Annex C.1): tells a card about the terminal before it says
/// which applications it has. The coding rests on two sources, when to send it on one.
enum POIInformation {
    /// POI object: identifier 0001 (Terminal Category), length, value.
    static func object(category: [UInt8]) -> [UInt8] {
        [0x00, 0x01, UInt8(truncatingIfNeeded: category.count)] + category
    }

    /// - Parameters:
    ///   - directory: the FCI of the PPSE. Its Terminal Categories Supported List (9F3E) and Selection Data Object List
    ///     (9F3F) decide what is sent.
    ///   - store: what the terminal knows; under 8B it finds the POI object.
    /// - Returns: `nil` where nothing is to be sent: neither does the card name the category nor has it a list, or the
    ///   list cannot be read.
    static func command(directory: [UInt8], category: [UInt8], store: DataStore) -> CommandAPDU? {
        let (categories, list) = wishes(directory)
        let isNamed = stride(from: 0, to: categories.count - 1, by: 2).contains {
            Array(categories[$0...$0 + 1]) == category
        }
        guard isNamed || list != nil else { return nil }
        var store = store
        let object = object(category: category)
        store.set(.poiInformation, object)
        guard let values = store.fill(list: list ?? []) else { return nil }
        return command(data: values + (isNamed ? object : []))
    }

    /// - Parameter data: the list's values and the POI objects; `nil` where they are too long for a short command.
    static func command(data: [UInt8]) -> CommandAPDU? {
        guard data.count <= 252 else { return nil }
        let length = UInt8(truncatingIfNeeded: data.count)
        let head: [UInt8] = data.count > 0x7F ? [0x83, 0x81, length] : [0x83, length]
        return ShortCommand.make(0x80, 0x1A, 0x00, 0x00, head + data)
    }

    private static func wishes(_ directory: [UInt8]) -> (categories: [UInt8], list: [UInt8]?) {
        var categories: [UInt8] = []
        var list: [UInt8]?
        do throws(TLVError) {
            try PPSEEntry.discretionaryData(directory) { node in
                switch node.tag {
                case .terminalCategoriesSupported: categories = Array(directory[node.value])
                case .selectionDataObjectList: list = Array(directory[node.value])
                case _: break
                }
            }
        } catch {
            return ([], nil)
        }
        return (categories, list)
    }
}

extension EntryPoint {
    /// The answer to the selection of the PPSE.
    mutating func directoryReceived(_ response: ResponseAPDU, now: TapInstant) -> Step {
        if let category = configuration.terminalCategory, category.count == 2, response.status.isSuccess,
            let command = POIInformation.command(
                directory: response.data, category: category, store: terminalStore)
        {
            state = .sendingPOIInformation
            return transmit(command)
        }
        return listCandidates(response, now: now)
    }

    /// The card's answer takes the place of its directory; a second list in it counts for nothing. A card that refuses ends
    /// the application (one source).
    mutating func poiAnswered(_ response: ResponseAPDU, now: TapInstant) -> Step {
        guard response.status.isSuccess, !response.data.isEmpty else {
            let message = UIRequest(.insertSwipeOrTryAnotherCard, .readyToRead)
            let error = ErrorIndication(l2: .statusBytes, statusWord: response.status)
            return finish(
                EMV.Outcome(.endApplication, uiOnOutcome: message, error: error).ended(at: .applicationSelection),
                signals: [])
        }
        return listCandidates(response, now: now)
    }

    private var terminalStore: DataStore {
        var store = DataStore(kernel: KernelIdentifier(rawValue: 0))
        for object in configuration.terminalData { store.set(object.tag, object.value) }
        store.set(transaction)
        return store
    }
}
