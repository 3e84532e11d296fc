// SPDX-License-Identifier: Apache-2.0
// The message files, built in by the C compiler: as arrays of Swift they took its own one minutes.
#include "CTexts.h"

#include <string.h>

// C23, which this compiler has in every mode.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char own_en[] = {
#embed "en.json"
};
static const unsigned char till_en[] = {
#embed "../../../share/till/messages/en.json"
};
static const unsigned char own_de[] = {
#embed "de.json"
};
static const unsigned char till_de[] = {
#embed "../../../share/till/messages/de.json"
};
static const unsigned char own_fr[] = {
#embed "fr.json"
};
static const unsigned char till_fr[] = {
#embed "../../../share/till/messages/fr.json"
};
static const unsigned char own_es[] = {
#embed "es.json"
};
static const unsigned char till_es[] = {
#embed "../../../share/till/messages/es.json"
};
static const unsigned char own_it[] = {
#embed "it.json"
};
static const unsigned char till_it[] = {
#embed "../../../share/till/messages/it.json"
};
static const unsigned char own_nl[] = {
#embed "nl.json"
};
static const unsigned char till_nl[] = {
#embed "../../../share/till/messages/nl.json"
};
static const unsigned char own_pl[] = {
#embed "pl.json"
};
static const unsigned char till_pl[] = {
#embed "../../../share/till/messages/pl.json"
};
static const unsigned char own_pt[] = {
#embed "pt.json"
};
static const unsigned char till_pt[] = {
#embed "../../../share/till/messages/pt.json"
};
static const unsigned char own_sv[] = {
#embed "sv.json"
};
static const unsigned char till_sv[] = {
#embed "../../../share/till/messages/sv.json"
};
static const unsigned char own_tr[] = {
#embed "tr.json"
};
static const unsigned char till_tr[] = {
#embed "../../../share/till/messages/tr.json"
};
static const unsigned char own_ar[] = {
#embed "ar.json"
};
static const unsigned char till_ar[] = {
#embed "../../../share/till/messages/ar.json"
};
static const unsigned char own_ja[] = {
#embed "ja.json"
};
static const unsigned char till_ja[] = {
#embed "../../../share/till/messages/ja.json"
};

#define OWN(language) {#language, {own_##language, sizeof own_##language}}
#define TILL(language) {"till/" #language, {till_##language, sizeof till_##language}}

static const struct {
    const char *name;
    struct ctexts_file file;
} files[] = {
    OWN(en), TILL(en),
    OWN(de), TILL(de),
    OWN(fr), TILL(fr),
    OWN(es), TILL(es),
    OWN(it), TILL(it),
    OWN(nl), TILL(nl),
    OWN(pl), TILL(pl),
    OWN(pt), TILL(pt),
    OWN(sv), TILL(sv),
    OWN(tr), TILL(tr),
    OWN(ar), TILL(ar),
    OWN(ja), TILL(ja),
};

struct ctexts_file ctexts_find(const char *name) {
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(files[i].name, name) == 0) return files[i].file;
    return (struct ctexts_file){0};
}
