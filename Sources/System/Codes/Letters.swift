// SPDX-License-Identifier: Apache-2.0
/// What is written for letters and signs that a device's character set lacks, in ASCII.
///
/// Latin letters lose their marks, German and Nordic ones get a second letter. Greek goes by ELOT 743 (ISO 843, type 2) without
/// its pairs of letters, Cyrillic by the table of Russian passports (ICAO Doc 9303-3, section 6.B) and its kin.
public enum Letters {
    /// - Parameter has: whether the device has a character.
    /// - Returns: the text with what the device lacks replaced; a question mark for what has no replacement.
    public static func replaced(in text: String, where has: (Character) -> Bool) -> String {
        var written = ""
        for character in text {
            if has(character) {
                written.append(character)
            } else if let letters = table[character] {
                written += letters
            } else if character.isWhitespace {
                written += " "
            } else {
                written += "?"
            }
        }
        return written
    }

    private static let table: [Character: String] = {
        let pairs = latin + greek + cyrillic + signs
        return Dictionary(
            pairs.split(separator: " ").compactMap { pair in pair.first.map { ($0, String(pair.dropFirst())) } },
            uniquingKeysWith: { first, _ in first })
    }()

    /// First the letter, then what is written for it.
    private static let latin =
        "ÀA ÁA ÂA ÃA ÄAe ÅAa ÆAe ÇC ÈE ÉE ÊE ËE ÌI ÍI ÎI ÏI ÐD ÑN ÒO ÓO ÔO ÕO ÖOe ØO ÙU ÚU ÛU ÜUe ÝY ÞTh ßss àa áa âa ãa äae "
        + "åaa æae çc èe ée êe ëe ìi íi îi ïi ðd ñn òo óo ôo õo öoe øo ùu úu ûu üue ýy þth ÿy ĀA āa ĂA ăa ĄA ąa ĆC ćc ĈC ĉc "
        + "ĊC ċc ČC čc ĎD ďd ĐD đd ĒE ēe ĔE ĕe ĖE ėe ĘE ęe ĚE ěe ĜG ĝg ĞG ğg ĠG ġg ĢG ģg ĤH ĥh ĦH ħh ĨI ĩi ĪI īi ĬI ĭi ĮI įi "
        + "İI ıi ĲIJ ĳij ĴJ ĵj ĶK ķk ĸq ĹL ĺl ĻL ļl ĽL ľl ĿL ŀl ŁL łl ŃN ńn ŅN ņn ŇN ňn ŉ'n ŊN ŋn ŌO ōo ŎO ŏo ŐO őo ŒOE œoe ŔR ŕr "
        + "ŖR ŗr ŘR řr ŚS śs ŜS ŝs ŞS şs ŠS šs ŢT ţt ŤT ťt ŦT ŧt ŨU ũu ŪU ūu ŬU ŭu ŮU ůu ŰU űu ŲU ųu ŴW ŵw ŶY ŷy ŸY ŹZ źz ŻZ "
        + "żz ŽZ žz ſs ȘS șs ȚT țt ẞSS "

    private static let greek =
        "ΑA ΒV ΓG ΔD ΕE ΖZ ΗI ΘTh ΙI ΚK ΛL ΜM ΝN ΞX ΟO ΠP ΡR ΣS ΤT ΥY ΦF ΧCh ΨPs ΩO ΆA ΈE ΉI ΊI ΌO ΎY ΏO ΪI ΫY αa βv γg δd εe "
        + "ζz ηi θth ιi κk λl μm νn ξx οo πp ρr σs ςs τt υy φf χch ψps ωo άa έe ήi ίi όo ύy ώo ϊi ϋy ΐi ΰy "

    private static let cyrillic =
        "АA БB ВV ГG ДD ЕE ЁE ЖZh ЗZ ИI ЙI КK ЛL МM НN ОO ПP РR СS ТT УU ФF ХKh ЦTs ЧCh ШSh ЩShch ЪIe ЫY Ь ЭE ЮIu ЯIa аa бb вv "
        + "гg дd еe ёe жzh зz иi йi кk лl мm нn оo пp рr сs тt уu фf хkh цts чch шsh щshch ъie ыy ь эe юiu яia ЄIe єie ІI іi "
        + "ЇI їi ҐG ґg ЂD ђd ЈJ јj ЉLj љlj ЊNj њnj ЋC ћc ЏDz џdz ЎU ўu "

    private static let signs =
        "‘' ’' ‚' ‛' “\" ”\" „\" ‟\" «\" »\" ‹' ›' ′' ″\" ‐- ‑- ‒- –- —- ―- −- …... •* ·. €EUR £GBP ¥JPY ₺TRY ₽RUB ₴UAH złzl "
        + "©(c) ®(R) ™(TM) ×x ÷/ °o ¡! ¿? ½1/2 ¼1/4 ¾3/4 ²2 ³3 ¹1 ‰o/oo №No µu ¦| ¨ ´' `' ¸, ªa ºo §S ¶P ₂2 ←< →>"
}
