// SPDX-License-Identifier: Apache-2.0
/// What the first byte of a URI record stands for (NFC Forum URI RTD §3.2.2).
enum NDEFURIPrefix {
    /// A code that is reserved stands for nothing, as 00: so the whole address is in what follows.
    static func text(_ code: Int) -> String { prefixes.indices.contains(code) ? prefixes[code] : "" }

    private static let prefixes = [
        "", "http://www.", "https://www.", "http://", "https://", "tel:", "mailto:", "ftp://anonymous:anonymous@",
        "ftp://ftp.", "ftps://", "sftp://", "smb://", "nfs://", "ftp://", "dav://", "news:", "telnet://", "imap:",
        "rtsp://", "urn:", "pop:", "sip:", "sips:", "tftp:", "btspp://", "btl2cap://", "btgoep://", "tcpobex://",
        "irdaobex://", "file://", "urn:epc:id:", "urn:epc:tag:", "urn:epc:pat:", "urn:epc:raw:", "urn:epc:",
        "urn:nfc:",
    ]
}
