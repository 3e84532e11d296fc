#!/bin/sh
# Writes the table of the data dictionary from the facts in Tests/Vectors/emv/tags.tsv, where changes belong.
set -eu
cd "$(dirname "$0")/.."

facts=Tests/Vectors/emv/tags.tsv
table=Sources/EMV/Data/DataDictionary+Table.swift

{
    cat <<'HEAD'
// Table: written by scripts/generate-data-dictionary.sh from Tests/Vectors/emv/tags.tsv; change that file, not this one.
// Sorted by tag; a tag whose meaning depends on the kernel has a row for each meaning.

import CardBytes

extension DataDictionary {
    static let table: [DataElement] = [
HEAD
    awk -F '\t' '
        BEGIN {
            split("- mastercard visa americanExpress jcb discover unionPay c8", kernel, " ")
        }
        /^#/ || $1 == "tag" { next }
        {
            format = $4 == "var" ? "variable" : $4
            length_ = $6 == "" ? "" : ", " $5 ", " $6
            kernels = ""
            count = split($7, numbers, ",")
            for (i = 1; i <= count; i++) kernels = kernels (i > 1 ? ", " : "") "." kernel[numbers[i]]
            if (count > 0) kernels = ", kernels: [" kernels "]"
            printf "        e(0x%s, \"%s\", .%s, .%s%s%s),\n", $1, $2, $3, format, length_, kernels
        }' "$facts"
    cat <<'TAIL'
    ]

    private static func e(
        _ tag: Tag, _ name: String, _ source: DataElement.Source, _ format: ValueFormat, _ minimum: Int = 0,
        _ maximum: Int = DataElement.unbounded, kernels: DataElement.Kernels = []
    ) -> DataElement {
        DataElement(
            tag: tag, name: name, source: source, format: format, minimumLength: minimum, maximumLength: maximum,
            kernels: kernels)
    }
}
TAIL
} > "$table"

swift format --in-place "$table"
