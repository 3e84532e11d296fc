// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// What tags mean. The meaning of some depends on the kernel, so that a look-up always names one, or says that it knows
/// none.
public enum DataDictionary {
    /// The meaning of `tag` for `kernel`.
    ///
    /// - Parameter kernel: `nil` where the kernel is not known: a tag with several meanings then has none.
    public static func element(_ tag: Tag, kernel: KernelIdentifier?) -> DataElement? {
        row(tag, kernel: kernel).map { table[$0] }
    }

    /// The place of that meaning in the table: who looks at a part of a row copies no row.
    static func row(_ tag: Tag, kernel: KernelIdentifier?) -> Int? {
        guard var index = firstRow(tag.rawValue) else { return nil }
        let rows = table
        let wanted = kernel.map { DataElement.Kernels($0) }
        var common: Int?
        var isAmbiguous = false
        while index < rows.count, rows[index].tag == tag {
            let kernels = rows[index].kernels
            if let wanted, !kernels.isDisjoint(with: wanted) { return index }
            if kernels.isEmpty || wanted == nil {
                isAmbiguous = common != nil
                common = index
            }
            index += 1
        }
        return isAmbiguous ? nil : common
    }

    /// Every meaning of `tag`.
    public static func elements(_ tag: Tag) -> [DataElement] { table.filter { $0.tag == tag } }

    /// All rows, sorted by tag.
    public static var all: [DataElement] { table }

    /// Whether a card may not set `tag`: for this kernel it is the terminal's or the kernel's own.
    static func isReserved(_ tag: Tag, _ kernel: KernelIdentifier) -> Bool {
        switch row(tag, kernel: kernel).map({ table[$0].source }) {
        case .terminal, .kernel: true
        case .card, .issuer, nil: false
        }
    }

    private static func firstRow(_ tag: UInt32) -> Int? {
        let place = places[hash(tag)]
        let rows = table
        if place == several { return rows.firstIndex { $0.tag.rawValue == tag } }
        return place != none && rows[Int(place)].tag.rawValue == tag ? Int(place) : nil
    }

    private static let none: Int16 = -1
    private static let several: Int16 = -2
    /// For each hash of a tag: the first row of the only tag that has it, `none`, or `several`.
    private static let places: [Int16] = {
        var places = [Int16](repeating: none, count: 2_048)
        for (index, row) in table.enumerated() where index == 0 || table[index - 1].tag != row.tag {
            let hash = hash(row.tag.rawValue)
            places[hash] = places[hash] == none ? Int16(exactly: index) ?? several : several
        }
        return places
    }()

    /// Eleven bits (Knuth's multiplication).
    private static func hash(_ tag: UInt32) -> Int { Int((tag &* 0x9E37_79B1) >> 21) }
}

extension DataDictionary {
    /// A row of the table.
    static func e(
        _ tag: Tag, _ name: String, _ source: DataElement.Source, _ format: ValueFormat, _ minimum: Int = 0,
        _ maximum: Int = DataElement.unbounded, kernels: DataElement.Kernels = []
    ) -> DataElement {
        DataElement(
            tag: tag, name: name, source: source, format: format, minimumLength: minimum, maximumLength: maximum,
            kernels: kernels)
    }
}
