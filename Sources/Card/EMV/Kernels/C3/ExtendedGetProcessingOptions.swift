// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// EXTENDED GET PROCESSING OPTIONS (C-3 Annex D.4.2, one source): options together with a record of the card's data
/// storage. A command coder only: no terminal of this project asks for it.
enum ExtendedGetProcessingOptions {
    /// - Parameters:
    ///   - pdolData: values of the PDOL.
    ///   - template: content of the update template (BF60), which is the operator's own.
    /// - Returns: `nil` where both are too long for a short command.
    static func command(pdolData: [UInt8], template: [UInt8]) -> CommandAPDU? {
        let data = [DataObject(.commandTemplate, pdolData), DataObject(.storageUpdateTemplate, template)].encoded
        return data.count <= 255 ? ShortCommand.make(0x80, 0xE0, 0x00, 0x00, data) : nil
    }
}
