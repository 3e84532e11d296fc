// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// What tags mean. The meaning of some depends on the kernel, so that a look-up always names one, or says that it knows
/// none.
public enum DataDictionary {
    /// The meaning of `tag` for `kernel`.
    ///
    /// - Parameter kernel: `nil` where the kernel is not known: a tag with several meanings then has none.
    public static func element(_ tag: Tag, kernel: KernelIdentifier?) -> DataElement? {
        guard var index = firstRow(tag.rawValue) else { return nil }
        let rows = table
        let wanted = kernel.map { DataElement.Kernels($0) }
        var common: DataElement?
        var isAmbiguous = false
        while index < rows.count, rows[index].tag == tag {
            let row = rows[index]
            if let wanted, !row.kernels.isDisjoint(with: wanted) { return row }
            if row.kernels.isEmpty || wanted == nil {
                isAmbiguous = common != nil
                common = row
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
        switch element(tag, kernel: kernel)?.source {
        case .terminal, .kernel: true
        case .card, .issuer, nil: false
        }
    }

    /// Binary search for the first row of a tag.
    private static func firstRow(_ tag: UInt32) -> Int? {
        let rows = table
        var low = 0
        var high = rows.count
        while low < high {
            let middle = (low + high) / 2
            if rows[middle].tag.rawValue < tag { low = middle + 1 } else { high = middle }
        }
        return low < rows.count && rows[low].tag.rawValue == tag ? low : nil
    }
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
