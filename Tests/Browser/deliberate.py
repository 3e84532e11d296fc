# SPDX-License-Identifier: Apache-2.0
"""Whether the tests can fail: each fault below is put into a copy of the pages, and the test that is for it has to find it.

deliberate.py [NUMBER…]; all by default, two at a time.
"""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PAGES = HERE.parents[1] / "share/till"

#: What is wrong, the file, what stands there, what stands there instead, suite and test.
FAULTS = [
    ("R1: no terms in the settings", "settings.js", 'say("set.terms")', '""', "sale", "Before.test_r01_settings_offer_the_terms_before_the_first_customer"),
    ("R2: no word of an administrator", "settings.js", '"terms.admin"', '"terms.accepted"', "sale", "Before.test_r02_only_an_administrator_accepts"),
    ("R3: terms without what is out of date", "settings.js", "    blocked && h(", "    false && h(", "sale",
     "Before.test_r03_what_is_out_of_date_comes_before_the_terms"),
    ("R4: a refusal without its remedy", "screens.js", 'error.resolution && h("p", { class: "resolution" }, error.resolution)', "null", "sale",
     "Before.test_r04_card_can_be_chosen_before_the_terms_are_accepted_and_says_why_not"),
    ("R5: no section on PIN", "education.js", 'part("pin",', 'part("pay",', "sale", "Before.test_r05_the_tutorial_has_a_section_for_each_kind_and_one_on_pin"),
    ("R6: a new till without its tutorial", "till.js", 'location.assign("/till/education.html")', 'location.assign("/till/")', "bench",
     "FirstSteps.test_the_command_as_the_book_has_it_and_the_address_that_it_prints_make_a_till"),
    ("R6: settings without the tutorial", "settings.js", 'h("a", { class: "button plain", href: "/till/education.html" }, say("set.tutorial")),', "", "sale",
     "Before.test_r06_a_new_till_opens_the_tutorial_and_settings_keep_it"),
    ("R7: a try-out without a sum", "till.js", '"#try"', '"#tried"', "sale", "Before.test_r07_a_try_out_moves_no_money_and_both_screens_say_so"),
    ("R7: a till that does not say TEST", "till.js", '$("test").hidden = status?.mode !== "test";', '$("test").hidden = true;', "sale",
     "Before.test_r07_a_try_out_moves_no_money_and_both_screens_say_so"),
    ("R7: a display that says TEST in a sale only", "display.js", '$("test").hidden = !seen.test;', '$("test").hidden = !seen.test || seen.phase === "idle";', "sale",
     "Choosing.test_a_display_says_test_before_its_first_sale"),
    ("R8: a lane prepared at every look", "app.js", "< 60000 && this.prepared", "< 0", "sale",
     "Before.test_r08_the_lane_is_prepared_at_the_start_and_when_the_window_comes_back_once_a_minute"),
    ("R9: progress without a percent", "compose.js", 'value: app.percent ?? undefined', 'value: undefined', "sale",
     "Before.test_r09_the_card_button_works_while_the_lane_prepares_and_progress_has_a_percent_once_it_is_known"),
    ("R10: a small card button", "till.css", ".methods .card { flex: 2 1 300px;", ".methods .card { flex: 0 0 80px;", "sale",
     "Choosing.test_r10_the_card_button_is_in_sight_and_not_smaller_than_the_others"),
    ("R11: a choice of one", "app.js", "this.methods().length === 1", "this.methods().length === 0", "sale",
     "Choosing.test_r11_the_only_method_opens_the_tap_screen_by_itself"),
    ("R12: no choice of a reader", "compose.js", "lanes.length > 1 && field(", "lanes.length > 9 && field(", "sale", "Choosing.test_r12_the_reader_can_be_changed_on_the_way"),
    ("R13: a scheme's name", "messages/sv.json", '"approved": "', '"approved": "Visa ', "sale", "Choosing.test_r13_r39_no_message_names_a_maker_a_wallet_or_a_scheme"),
    ("R14: a sum that can be changed at the tap", "screens.js", 'armed: (app) => [', 'armed: (app) => [h("input", { "aria-label": "x" }), ', "sale",
     "Choosing.test_r14_r16_what_changes_the_sum_comes_before_the_tap"),
    ("R15: money by floating point", "money.js", "}).format(plain(amount));", "}).format(Math.fround(Number(plain(amount))));", "sale",
     "Choosing.test_r15_both_screens_show_the_final_sum_to_the_last_cent"),
    ("R16: a choice of applications at the tap", "screens.js", 'armed: (app) => [', 'armed: (app) => [h("select", { "aria-label": "x" }), ', "sale",
     "Choosing.test_r14_r16_what_changes_the_sum_comes_before_the_tap"),
    ("R17: nothing busy", "screens.js", '["starting", "asking", "authorising"].includes(screen)) },', "false) },", "sale",
     "Result.test_r17_authorising_is_shown_before_there_is_a_result"),
    ("R18: one sign for all ends", "view.js", "class: `sign ${kind}`", "class: `sign good`", "sale", "Result.test_r18_a_result_is_told_by_word_and_shape_without_colour"),
    ("R19: a code of one pixel a module", "view.js", "const size = modules * Math.max(5, Math.floor(room / modules));", "const size = modules;", "sale",
     "Result.test_r19_the_code_on_the_display_is_the_receipts"),
    ("R20: choices in another order", "screens.js", "return next.filter((step) => acts[step])", "return [...next].reverse().filter((step) => acts[step])", "sale",
     "Choosing.test_r20_a_tap_that_failed_offers_what_the_answer_says_in_its_order"),
    ("R21: a field for a PIN", "screens.js", "  declined: (app, { transaction: { result, card, error } }) => [",
     '  declined: (app, { transaction: { result, card, error } }) => [h("input", { type: "password" }),', "sale", "Result.test_r21_a_pin_is_asked_for_elsewhere"),
    ("R22: an error without its code", "screens.js", "small(error.code));", "null);", "sale", "Result.test_r22_an_error_for_staff_says_what_it_is_and_what_to_do"),
    ("R23: help that does not fit", "screens.js", 'declined: "declined", unknown', 'declined: "loyalty", unknown', "sale", "Result.test_r23_help_is_one_press_away_and_fits"),
    ("R23: no times of the tap", "settings.js", "    tap && tapPart(app, tap),\n", "", "sale", "Result.test_r23_help_is_one_press_away_and_fits"),
    ("R24: a label that pays", "messages/en.json", '"till.lookUp": "Look up"', '"till.lookUp": "Pay"', "sale", "Choosing.test_r24_reads_without_a_sum_have_plain_labels"),
    ("R25: passes like payments", "till.css", ".tile.pass { background: var(--pass); color: var(--on-pass); border-color: var(--pass); }",
     ".tile.pass { background: var(--act); }", "sale", "Choosing.test_r25_passes_have_a_button_of_their_own_without_a_word_of_payment"),
    ("R26: more lines than anybody reads", "display.js", ".slice(0, innerHeight < 600 ? 2 : 8)", "", "sale", "Choosing.test_r26_lines_are_short_few_and_never_hide_a_sum"),
    ("R27: a total of nothing", "compose.js", "if (value <= 0)", "if (value < -999999)", "sale", "Choosing.test_r27_lines_may_be_negative_but_the_total_is_above_zero"),
    ("R28: no payee", "display.js", 'h("span", {}, subject(seen)), ', "", "sale", "Choosing.test_r28_r29_the_payee_stands_beside_the_total"),
    ("R29: a seller without who collects", "display.js", '(through ? say("till.through", { seller: payee, platform: through }) : payee)', "payee", "sale",
     "Choosing.test_r28_r29_the_payee_stands_beside_the_total"),
    ("R29: a bill of somebody else until the card is asked for", "app.js", "?? this.status?.profile;", "?? { displayName: this.status?.profile?.displayName };",
     "sale", "Choosing.test_r28_r29_the_payee_stands_beside_the_total"),
    ("R29: who collects in one language", "display.js", 'say("till.through", { seller: payee, platform: through })', '`${payee}, through ${through}`', "sale",
     "Choosing.test_whose_money_is_collected_is_said_in_the_customers_language"),
    ("R30: nothing pending", "display.js", "seen.pending && h(", "false && h(", "sale", "Choosing.test_r30_a_sum_that_is_not_final_is_marked"),
    ("R31: a subscription without a beginning", "compose.js", 'if (["recurring", "deferred"].includes(kind) && begins) line.begins = begins;', "", "sale",
     "Choosing.test_r31_a_subscription_says_how_often_from_when_and_what_is_charged_today"),
    ("R32: a donation without a line", "compose.js", ', kind: "donation" });', " });", "sale", "Choosing.test_r32_a_donation_has_a_line_of_its_own_three_sums_and_other"),
    ("R33: an error far from its field", "compose.js", '"aria-describedby": "entry-problem"', '"data-x": "1"', "sale", "Choosing.test_r33_errors_are_short_and_stand_at_their_field"),
    ("R34: input that takes one form only", "money.js", r"replace(/\p{Sc}|\p{Cf}|\s|", r"replace(/\p{Cf}|", "sale", "Choosing.test_r34_input_is_forgiving"),
    ("R35: a sale that outlives its till", "compose.js", "const base = { type, lane,", "const base = { type, lane, detached: true,", "sale",
     "Result.test_r35_closing_the_till_calls_the_sale_off"),
    ("R36: no thanks", "customer.js", '"approved.sum", "thanks"]', '"approved.sum"]', "sale", "Result.test_r36_an_approval_is_thanked_for_and_leads_on"),
    ("R37: a method that is hidden", "compose.js", 'app.methods().filter((one) => one !== "card")', 'app.methods().filter((one) => one === "cash")', "sale",
     "Choosing.test_r37_r38_all_methods_stand_side_by_side_in_words_alone"),
    ("R38: a picture on one of the methods", "compose.js", 'button(say("till.card"), ', 'button([h("img", { alt: "" }), say("till.card")], ', "sale",
     "Choosing.test_r37_r38_all_methods_stand_side_by_side_in_words_alone"),
    ("R38: a mark on the display", "display.js", "sign(seen.sign), sumLine", 'h("img", { alt: "" }), sumLine', "looks", "Looks.test_english_light"),
    ("R39: a maker's name", "messages/en.json", '"till.card": "Tap to pay by card or phone"', '"till.card": "Tap to Pay on iPhone"', "sale",
     "Choosing.test_r13_r39_no_message_names_a_maker_a_wallet_or_a_scheme"),
    ("R40: green before the end", "sale.js", 'return transaction.type !== "link" ? "authorising"', 'return transaction.type !== "link" ? "approved"', "sale",
     "Result.test_r40_nothing_is_green_before_the_final_state"),
    ("R41: a till that wants a reader of metal", "compose.js", "const missing = problem(app);", 'const missing = app.laneStatus?.reader?.driver === "virtual" ? "entry.missing" : problem(app);', "sale",
     "Result.test_r41_it_all_runs_against_a_stand_in"),
    ("a refund that is to be paid", "customer.js", 'view.type === "refund" ? "till.refund" : "pay"', '"pay"', "sale", "Choosing.test_a_refund_is_not_called_a_payment"),
    ("a link that is paid before it is", "sale.js", 'transaction.link ? "link" : "starting"', '"approved"', "sale", "Links.test_a_link_stands_on_both_screens_with_its_sum_until_it_is_closed"),
    ("a link on a lane", "sale.js", '{ type: "link", retryOf:', '{ type: "link", lane: "main", retryOf:', "sale", "Links.test_a_link_that_is_paid_is_approved_on_both_screens"),
    ("another link in the place of the card", "sale.js", "membersOf(sale.request.card ?? sale.request)", "membersOf(sale.request)", "sale",
     "Links.test_a_link_stands_on_both_screens_with_its_sum_until_it_is_closed"),
    ("a link without its code on the display", "customer.js", "pending: view.pending, qr: view.qr, test };", "pending: view.pending, test };", "sale",
     "Links.test_a_link_stands_on_both_screens_with_its_sum_until_it_is_closed"),
    ("a link that keeps the next customer waiting", "sale.js", '["unknown", "link"].includes(screenOf(sale))', '["unknown"].includes(screenOf(sale))', "sale",
     "Links.test_a_link_stands_aside_for_the_next_customer_whose_sale_takes_the_display"),
    ("a receipt of a link without its code", "screens.js", "if (!transaction.link && !transaction.result?.receiptURL) return;", "if (!transaction.result?.receiptURL) return;", "sale",
     "Links.test_the_receipt_of_an_open_link_says_that_nothing_is_paid"),
    ("a link that the till may not open", "app.js", 'if (this.mayOpenLinks && mayLink', "if (mayLink", "sale", "Links.test_a_till_that_may_open_no_links_opens_none"),
    ("a sale at another terminal that is paid before it is", "sale.js", 'if (transaction.type === "handover") return "elsewhere";',
     'if (transaction.type === "handover") return "approved";', "sale",
     "Links.test_another_terminal_takes_a_sale_that_this_reader_cannot_and_the_till_waits_for_it"),
    ("a stored payment that is paid", "sale.js", 'case "delivered": return "stored";', 'case "stored": case "delivered": return "approved";', "faults",
     "Stored.test_a_stored_payment_is_not_called_paid_and_can_be_taken_back_for_a_minute"),
    ("a stored payment that is paid to the customer", "customer.js", 'case "stored": return { phase, sign: "later"', 'case "stored": return { phase, sign: "good"', "faults",
     "Stored.test_a_stored_payment_is_not_called_paid_and_can_be_taken_back_for_a_minute"),
    ("a receipt that is printed with its buttons", "till.css", "body > :not(dialog), .no-print, dialog h2 {", "body > :not(dialog), dialog h2 {", "sale",
     "Result.test_a_receipt_is_printed_alone_and_legibly"),
    ("a receipt that is printed under the till", "till.css", "body > :not(dialog), .no-print, dialog h2 {", ".no-print, dialog h2 {", "sale",
     "Result.test_a_receipt_is_printed_alone_and_legibly"),
    ("the customer reads why", "customer.js", 'lines: ["declined", view.key === "chip" ? "chip" : "other"]', 'lines: ["declined", "reason.insufficientFunds"]', "sale",
     "Result.test_the_customer_never_reads_why"),
    ("the rest is the whole", "sale.js", "value: amount.value - result.amountApproved.value", "value: amount.value", "sale",
     "Result.test_a_part_is_paid_and_the_rest_is_a_sale_of_its_own"),
    ("a part that is forgotten over its rest", "sale.js", "(unpaid.has(screenOf(sale)) && sale.request?.part) || null", "null", "sale",
     "Result.test_a_rest_that_is_declined_leads_back_to_the_part_that_is_paid"),
    ("a sale in doubt without its sum", "compose.js", "amount && amountText(money(amount, app.say.locale)), \" · \",", "", "sale",
     "Result.test_a_sale_in_doubt_stands_aside_with_its_sum_and_the_next_bill_waits"),
    ("a sale put aside whose end nobody hears of", "app.js", 'this.desk.lookAround(true);', "{}", "sale",
     "Result.test_the_cashier_hears_how_a_sale_that_was_put_aside_has_ended"),
    ("a bill that is lost over a sale in doubt", "app.js", "this.draft = this.waiting ?? emptyDraft();", "this.draft = emptyDraft();", "sale",
     "Result.test_a_sale_in_doubt_stands_aside_with_its_sum_and_the_next_bill_waits"),
    ("a new sale of what is not known", "screens.js", '    case "unknown":\n      return [', '    case "unknown":\n      return [again(), ', "sale",
     "Result.test_a_payment_that_is_not_known_is_asked_for_and_never_sold_again"),
    ("M4: one entry for the sales of all windows", "kept.js", "this.storage.setItem(entry + request.key,", "this.storage.setItem(entry,", "windows",
     "Windows.test_m4_a_new_sale_in_one_window_leaves_the_others_sale_in_doubt"),
    ("M4: a sale that is lost with its window", "desk.js", "aside || this.free.has(key) ||", "aside ||", "windows",
     "Windows.test_m4_a_window_that_is_closed_in_any_state_leaves_its_sale_to_the_next"),
    ("M4: a doubt that nobody asks about", "till.js", "app.desk.lookForLost();", "", "windows", "Windows.test_m4_a_browser_whose_entries_were_cleared_hears_of_the_doubt"),
    ("M9: a refund like a sale", "sale.js", 'case "refund": return "refund";', 'case "refund": return "sale";', "windows", "Acts.test_m9_a_refund_says_that_money_goes_back"),
    ("M9: a sum that is held like one that is paid", "customer.js", 'if (key === "held" || held)', "if (false)", "windows",
     "Acts.test_m9_a_sum_that_is_only_held_is_not_called_paid"),
    ("D8: a stream for each window", "gateway.js", "if (!shared.locks || !shared.Channel)", "if (true)", "windows",
     "Windows.test_d8_seven_windows_work_and_go_on_when_the_first_is_closed"),
    ("a sale that is not written down", "desk.js", 'case "store": return this.keep(effect.request);', 'case "store": return;', "faults",
     "Faults.test_a_sale_is_written_down_before_it_is_sent"),
    ("a new key for each attempt", "desk.js", "body: request.body, key: request.key });\n        this.back();\n        return this.do",
     "body: request.body, key: newKey(\"x\") });\n        this.back();\n        return this.do", "faults",
     "Faults.test_a_lost_answer_is_asked_for_again_and_never_sold_anew"),
    ("a till that says nothing of a gateway that is gone", "desk.js", "this.away = performance.now();", "this.away = null;", "faults",
     "Faults.test_the_gateway_dies_and_comes_back_in_every_state"),
    ("a sum that stays on the display", "customer.js", "amountAfterLoss: 30", "amountAfterLoss: 3000", "faults", "Faults.test_the_display_calls_staff_and_takes_the_sum_away"),
    ("a till that forgets after a reload", "desk.js", "const request = await this.kept.resume();", "const request = null;", "faults",
     "Faults.test_a_till_that_is_reloaded_goes_on_where_the_sale_is"),
    ("a page from elsewhere", "till.html", "</head>", '<script src="https://elsewhere.example/x.js"></script></head>', "security",
     "Pages.test_the_own_pages_stand_under_their_policy_without_a_complaint"),
    ("small targets", "till.css", "min-block-size: 64px; min-inline-size: 64px; padding: 8px 18px;", "min-block-size: 20px; padding: 0;", "looks", "Looks.test_english_light"),
    ("pale letters", "till.css", "button, .button, input, select, summary { font: inherit; color: inherit;",
     "button, .button, input, select, summary { font: inherit; color: #9aa;", "looks", "Looks.test_english_light"),
    ("bars that all begin at once", "ledger.js", 'if (word !== "tap.air") from += time;', "", "looks", "Looks.test_the_times_of_the_last_tap_fit_at_360_px_in_every_language"),
    ("P8: a page for a code in English", "till.js", 'dress(app.say, app.say("till.title"));', "", "looks", "Looks.test_p8_no_screen_says_a_word_of_another_language"),
    ("no focus to be seen", "till.css", ":focus-visible { outline: 4px solid var(--act); outline-offset: 2px; }", ":focus-visible { outline: 0; }", "looks",
     "Looks.test_everything_can_be_reached_by_keyboard_and_focus_is_seen"),
    ("English from the right in an Arabic till", "screens.js", 'class: "failure", dir: "auto"', 'class: "failure"', "looks",
     "Looks.test_what_the_service_says_in_english_runs_from_the_left_in_arabic_too"),
    ("a dialog with small targets", "till.css", ".topics { display: flex; flex-wrap: wrap; gap: 8px; }", ".topics { display: flex; flex-wrap: wrap; gap: 2px; }", "looks",
     "Looks.test_screens_beside_a_sale"),
    ("Arabic from the left", "language.js", '=== "ar" ? "rtl"', '=== "xx" ? "rtl"', "looks", "Looks.test_arabic_light_is_mirrored"),
    ("R42: a welcome without the networks", "customer.js", "networks: view.networks, test };", "test };", "sale", "Rows.test_r42_whose_cards_are_taken_is_said_in_words"),
    ("R43: what is due later is charged now", "money.js", 'line.kind === "deferred" ? total : ', "", "sale",
     "Rows.test_r43_a_coupon_has_its_code_and_what_is_due_later_is_no_part_of_the_sum"),
    ("R43: a coupon without its code", "compose.js", ' ? ` ${code.trim()}` : "";', ' ? "" : "";', "sale",
     "Rows.test_r43_a_coupon_has_its_code_and_what_is_due_later_is_no_part_of_the_sum"),
    ("R44: a sum that is only held, charged at another terminal", "app.js", 'includes("handover") && !this.isHeldOnly ?', 'includes("handover") ?', "sale",
     "Rows.test_r44_reader_link_and_another_terminal_are_chosen_in_one_place_before_any_card"),
    ("R44: a card after another terminal that still names it", "app.js", 'type: "purchase", to: undefined,', 'type: "purchase",', "sale",
     "Rows.test_r44_reader_link_and_another_terminal_are_chosen_in_one_place_before_any_card"),
    ("R45: an address that stays on the screen", "screens.js", 'address.value = "";', "", "sale", "Rows.test_r45_the_receipt_goes_to_an_address_that_stays_nowhere"),
    ("R46: a lesson for nobody", "app.js", "if (cashier && !this.shop.taught", "if (false && !this.shop.taught", "sale",
     "Rows.test_r46_who_is_new_at_the_till_is_offered_the_tutorial_until_it_was_seen"),
    ("R47: a place without its drawing", "drawings.js", "  stick: ()", "  stock: ()", "sale", "Rows.test_r47_drawings_show_where_to_hold_a_card_and_both_ways_of_a_pin"),
    ("R48: an old reader that is told by nobody", "till.js", " ?? lane?.notice;", ";", "sale", "Rows.test_r48_a_reader_that_is_too_old_says_what_to_do_and_takes_cards_meanwhile"),
]


def found(fault):
    what, file, old, new, suite, test = fault
    with tempfile.TemporaryDirectory() as folder:
        pages = pathlib.Path(folder) / "till"
        shutil.copytree(PAGES, pages)
        text = (pages / file).read_text()
        if old not in text:
            return what, f"{file} has no {old!r} any more: write this fault anew"
        (pages / file).write_text(text.replace(old, new))
        done = subprocess.run(
            [sys.executable, str(HERE / f"{suite}.py"), "--failfast", test], capture_output=True, text=True, timeout=300,
            env={**os.environ, "NFC_TAP_PAGES": str(pages)})
        # A fault has to make the test fail, not end before it begins.
        is_found = done.returncode != 0 and "Ran 1 test" in done.stderr
        return what, None if is_found else f"not found by {test}: {done.stderr[-300:]}"


def main():
    chosen = [FAULTS[int(number)] for number in sys.argv[1:]] or FAULTS
    results = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for what, why in pool.map(found, chosen):
            results.append((what, why))
            print(f"check-browser: {what}: {why or 'found'}", flush=True)
    missed = [(what, why) for what, why in results if why]
    print(f"check-browser: {len(results) - len(missed)} of {len(results)} deliberate faults were found")
    sys.exit(bool(missed))


main()
