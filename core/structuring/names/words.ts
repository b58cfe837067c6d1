/** Words that carry structure, in the languages of the sheets we see. */

/** Labels that say "this row sums others". A footnote mark may follow. */
const TOTAL_LABEL =
  /^(?:.*(?:小計|合計|総計|累計|総合計|年計|月計|期計)|計|総額|(?:sub|grand)?[- ]?totals?\b.*|.*[,;:\s(-](?:sub)?totals?\)?(?:,? \d{4})?|.*\bsub-?totals?\b.*|gesamt|insgesamt|summe|totale?s?)[\s\d\\/*.:)]*$/i;

/** Labels of a whole: sums when the numbers say so, or when they head the table in bold. */
const WHOLE_LABEL =
  /^(?:all\b.{0,60}|(?:the )?(?:united states|u\.s\.|world|nation|country)(?:[, ]+(?:total|\d{4}))?|総数|全体|全国|全社|総平均)[\s\d\\/*.:)]*$/i;

const SUBTOTAL_LABEL = /小計|\bsub-?total/i;

/** Computed, and not a sum. Whole words only: `ratio` is in Operations and Corporation, `率` begins 率先. */
const COMPUTED_LABEL =
  /平均|(?:率|比|増減|差異|差引|差額)(?:額|数|値)?(?:[([].*[)\]])?$|\b(?:averages?|avg|means?|medians?|ratios?|percent(?:ages?)?|changes?|differences?|variances?|growth)\b/i;

/** Results of a statement: differences rather than sums. */
const PROFIT_LABEL =
  /利益|損失|損益|差引|純額|収支|残高|剰余|\b(?:net|gross|operating|income|profit|loss|margin|ebitda?|balance|surplus|deficit|earnings)\b/i;

/** What is left in the end; income and balances may be parts of something as well. */
const RESULT_LABEL =
  /利益|損失|損益|差引|収支|剰余|\b(?:profit|surplus|deficit|ebitda?|ebit)\b|\bnet (?:income|loss|earnings|change|cash)\b/i;

const UNIT_LINE =
  /^[\s(（[［【<＜]*(?:単位|unit|units)\s*[:：・]?.*$|^[(（[［【]\s*(?:in\s+)?(?:千円|百万円|億円|円|万円|人|％|%|千人|千ドル|百万ドル|ドル|件|台|個|(?:thousands?|millions?|billions?)\b.*|\$.*|dollars.*|us\$?.*|usd.*|000s?.*)[)）\]］】]\s*$|^\(?in (?:thousands?|millions?|billions?)\b.*$/i;

const NOTE_START =
  /^(?:※|\*|＊|†|‡|[注註]\s*[)）:：0-9０-９(（]|[(（][注註]|備考|出典|資料|出所|付記|補足|notes?\b\s*[:.\d]?|sources?\b\s*:?|footnotes?\b|see\b|\\?\d{1,2}\s?[/)\\]\s*\S|\\\d|[a-z]\/\s|[(（]\d+[)）]\s*\S|\d+\.\s+\S|-{2,}|_{3,}|https?:|internet|for more|data (?:are|is|source)|based on|includes?\b|excludes?\b|prepared|revised|updated|symbols?:|abbreviat|n\.?a\.? *[-=:]|\(?(?:na|x|z|d|s|b)\)?\s+(?:not|less|figure|data|base|represents|withheld))/i;

/** Column names computed over the columns beside them. */
const TOTAL_COLUMN =
  /^(?:.*(?:合計|総計|小計|累計|年計|通期|通年|年間|平均|増減|差異|差額|前年比|前期比|前年同期比|前月比|増減率|伸び率|伸率|構成比|対比|達成率)|計|差|比率?|(?:grand |sub)?total|totals?|ytd|year to date|average|avg\.?|mean|(?:%|percent|net|annual|yoy)?\s*(?:change|growth|variance|difference)s?|cagr|full[- ]year)$/i;

export function isTotalColumn(name: string): boolean {
  return name.length <= 40 && TOTAL_COLUMN.test(compact(name));
}

/** Most labels hold none of these, and need no closer look. */
const MAY_BE_TOTAL = /計|総額|total|gesamt|summe/i;
const MAY_BE_WHOLE = /^\s*(?:all|the|united|u\.s|world|nation|country|総|全)/i;

export function isTotalLabel(label: string): boolean {
  if (label.length > 80 || !MAY_BE_TOTAL.test(label)) return false;
  const plain = compact(label);
  return TOTAL_LABEL.test(plain) && !/percent|per cent|%|average|比率|平均/i.test(plain);
}

/** What stands first below a whole when its parts are listed: the states of a country, its regions, its prefectures. */
export function isFirstPart(label: string): boolean {
  return /^(?:alabama|northeast|new england|北海道)/i.test(compact(label));
}

export function isWholeLabel(label: string): boolean {
  return label.length <= 80 && MAY_BE_WHOLE.test(label) && WHOLE_LABEL.test(compact(label));
}

export function isSubtotalLabel(label: string): boolean {
  return SUBTOTAL_LABEL.test(compact(label));
}

export function isComputedLabel(label: string): boolean {
  return COMPUTED_LABEL.test(compact(label));
}

/** Columns whose figures do not add up by nature. */
export function isRateName(name: string): boolean {
  return /率|比|単価|平均|偏差|指数|順位|利回|%|％|\b(?:rate|ratio|average|avg|mean|median|price|percent|per|share|index|rank|yield|margin)\b/i.test(
    name.normalize('NFKC'),
  );
}

export function isProfitLabel(label: string): boolean {
  return PROFIT_LABEL.test(compact(label));
}

export function isResultLabel(label: string): boolean {
  return RESULT_LABEL.test(compact(label));
}

export function isUnitLine(text: string): boolean {
  return text.length <= 60 && UNIT_LINE.test(text.normalize('NFKC').trim());
}

/** `令和２年12月31日現在`, `as of March 31`: the day that a sheet speaks of. */
export function isAsOf(text: string): boolean {
  return text.length <= 40 && /\d.*(?:現在|時点)[)]?$|^as (?:of|at) .*\d/i.test(text.normalize('NFKC').trim());
}

/** `第53表 薬剤師数`, `Table 3. Exports`: the title of a table, wherever it stands. */
export function isNumberedTitle(text: string): boolean {
  return /^(?:第?\s?\d+(?:[-–の.]\d+)*\s?表|表\s?\d+|table\s\d+)(?:[-–.:\s]|$).*\S/i.test(text.normalize('NFKC').trim());
}

/** `……………`, `__________`: a place to sign or to fill in by hand. */
export function isFillIn(text: string): boolean {
  return /^(?:[._＿]{4,}|[…‥]{2,})[.…‥_＿\s]*$/.test(text.trim());
}

/** Not only a date, a period, a page or a remark in brackets. */
export function isPlainTitle(text: string): boolean {
  const plain = text.normalize('NFKC').trim();
  if (plain === '' || /^[([【<].*[)\]】>]$/.test(plain)) return false;
  return !/^(?:自|至|期間|日付|作成|更新|ページ|page|date|as of|for the|from)\b|^(?:自|至|作成|更新)|^[\d\s年月日/.:~〜-]+(?:現在|時点|まで|分)?$/i.test(
    plain,
  );
}

export function isNoteStart(text: string): boolean {
  return NOTE_START.test(text.trim());
}

const ASCII = /^[\x20-\x7e]*$/;

/** `合　計` and `合 計` are `合計`: Japanese labels are spread with blanks to fill a column. */
function compact(label: string): string {
  if (ASCII.test(label)) return label.trim();
  const plain = label.normalize('NFKC').trim();
  return /[ぁ-んァ-ヶ一-龠]/.test(plain) ? plain.replace(/\s+/g, '') : plain;
}
