// SPDX-License-Identifier: Apache-2.0
// The message files, built in by the C compiler: as arrays of Swift they took its own one minutes.
#include "CTexts.h"

#include <string.h>

// C23, which this compiler has in every mode.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char
own_en[] = {
#embed "en.json"
}, till_en[] = {
#embed "../../../share/till/messages/en.json"
}, own_de[] = {
#embed "de.json"
}, till_de[] = {
#embed "../../../share/till/messages/de.json"
}, own_fr[] = {
#embed "fr.json"
}, till_fr[] = {
#embed "../../../share/till/messages/fr.json"
}, own_es[] = {
#embed "es.json"
}, till_es[] = {
#embed "../../../share/till/messages/es.json"
}, own_it[] = {
#embed "it.json"
}, till_it[] = {
#embed "../../../share/till/messages/it.json"
}, own_nl[] = {
#embed "nl.json"
}, till_nl[] = {
#embed "../../../share/till/messages/nl.json"
}, own_pl[] = {
#embed "pl.json"
}, till_pl[] = {
#embed "../../../share/till/messages/pl.json"
}, own_pt[] = {
#embed "pt.json"
}, till_pt[] = {
#embed "../../../share/till/messages/pt.json"
}, own_sv[] = {
#embed "sv.json"
}, till_sv[] = {
#embed "../../../share/till/messages/sv.json"
}, own_tr[] = {
#embed "tr.json"
}, till_tr[] = {
#embed "../../../share/till/messages/tr.json"
}, own_ar[] = {
#embed "ar.json"
}, till_ar[] = {
#embed "../../../share/till/messages/ar.json"
}, own_ja[] = {
#embed "ja.json"
}, till_ja[] = {
#embed "../../../share/till/messages/ja.json"
};

#define FILES(language) {#language, {own_##language, sizeof own_##language}}, {"till/" #language, {till_##language, sizeof till_##language}}

static const struct { const char *name; struct ctexts_file file; } files[] = {
    FILES(en), FILES(de), FILES(fr), FILES(es), FILES(it), FILES(nl), FILES(pl), FILES(pt), FILES(sv), FILES(tr), FILES(ar), FILES(ja),
};

struct ctexts_file ctexts_find(const char *name) {
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(files[i].name, name) == 0) return files[i].file;
    return (struct ctexts_file){0};
}
