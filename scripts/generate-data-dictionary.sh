#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes the table of the data dictionary and the names of its tags from the facts in Tests/Vectors/emv/tags.tsv, where
# changes belong.
set -eu
cd "$(dirname "$0")/.."

facts=Tests/Vectors/emv/tags.tsv
table=Sources/Card/EMV/Data/DataDictionary+Table.swift
common=Sources/Card/EMV/Data/Tag+Names.swift
special=Sources/Card/EMV/Data/Tag+KernelNames.swift

{
    cat <<'HEAD'
// SPDX-License-Identifier: Apache-2.0
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
}
TAIL
} > "$table"

# The constants of the rows that all kernels share (0) or that belong to some of them (1).
names() {
    cat <<HEAD
// SPDX-License-Identifier: Apache-2.0
// Names: written by scripts/generate-data-dictionary.sh from Tests/Vectors/emv/tags.tsv; change that file, not this one.

public import CardBytes

/// $2
extension Tag {
HEAD
    awk -F '\t' -v special="$1" '
        /^#/ || $1 == "tag" || $9 == "" || ($7 != "") != special { next }
        { printf "    /// %s: %s.\n    public static var %s: Tag { 0x%s }\n", $1, $2, $9, $1 }' "$facts"
    echo "}"
}

names 0 "Tags that mean the same to every kernel." > "$common"
names 1 "Tags whose meaning is one kernel's, or a few kernels'; another kernel may have another name for the same tag." > "$special"

swift format --in-place "$table" "$common" "$special"
