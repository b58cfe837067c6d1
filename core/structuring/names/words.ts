/** Words that carry structure, in the languages of the sheets we see. */

/** Labels that say "this row sums others". A footnote mark may follow. */
const TOTAL_LABEL =
  /^(?:.*(?:小計|合計|総計|累計|総合計|年計|月計|期計)|計|総額|(?:sub|grand)?[- ]?totals?\b.*|.*[,;:\s(-](?:sub)?totals?\)?(?:,? \d{4})?|.*\bsub-?totals?\b.*|gesamt|insgesamt|summe|totale?s?)[\s\d\\/*.:)]*$/i;

/** Labels of a whole: sums when the numbers say so, or when they head the table in bold. */
const WHOLE_LABEL =
  /^(?:all\b.{0,60}|.{1,20}[^会設統時集推家生余度圧力量速流温合小総累年月期]計|(?:the )?(?:united states|u\.s\.|world|nation|country)(?:[, ]+(?:total|\d{4}))?|総数|全体|全国|全社|総平均)[\s\d\\/*.:)]*$/i;

const SUBTOTAL_LABEL = /小計|\bsub-?total/i;

/** Computed, and not a sum. Whole words only: `ratio` is in Operations and Corporation, `率` begins 率先. */
const COMPUTED_LABEL =
  /平均|^[%％]|[%％]$|(?:率|比|増減|差異|差引|差額)(?:額|数|値)?(?:[([].*[)\]])?$|\b(?:averages?|avg|means?|medians?|ratios?|percent(?:ages?)?|changes?|differences?|variances?|growth)\b/i;

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
  /^(?:.*(?:合計|総計|小計|累計|年計|通期|通年|年間|平均|増減|差異|差額|前年比|前期比|前年同期比|前月比|増減率|伸び率|伸率|構成比|対比|達成率)|計|差|比率?|(?:grand |sub)?total|totals?|ytd|year to date|average|avg\.?|mean|annual|(?:%|percent|net|annual|yoy)?\s*(?:change|growth|variance|difference)s?|cagr|full[- ]year)$/i;

export function isTotalColumn(name: string): boolean {
  return name.length <= 40 && TOTAL_COLUMN.test(compact(name));
}

/** Most labels hold none of these, and need no closer look. */
const MAY_BE_TOTAL = /計|総額|total|gesamt|summe/i;
const MAY_BE_WHOLE = /^\s*(?:all|the|united|u\.s|world|nation|country|総|全)|計[\s\d\\/*.:)]*$/i;

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

/** `Total since January 1`, `累計`: a sum over time, which the rows around it need not add up to. */
export function isRunningTotal(label: string): boolean {
  return /累計|\b(?:since|to date|ytd|cumulative)\b/i.test(compact(label));
}

export function isSubtotalLabel(label: string): boolean {
  return SUBTOTAL_LABEL.test(compact(label));
}

const MAY_BE_STATISTIC = /中|平|最|median|average|avg|mean|max|min|highest|lowest/i;

export type Statistic = 'mean' | 'median' | 'max' | 'min';

/** What a row says that it is of the rows above it; null for most. */
export function statisticOf(label: string): Statistic | null {
  if (label.length > 40 || !MAY_BE_STATISTIC.test(label)) return null;
  const plain = compact(label);
  if (/中央値|\bmedian\b/i.test(plain)) return 'median';
  if (/平均|\b(?:average|avg|mean)\b/i.test(plain)) return 'mean';
  if (/最大|最高|\b(?:max|maximum|highest)\b/i.test(plain)) return 'max';
  return /最小|最低|\b(?:min|minimum|lowest)\b/i.test(plain) ? 'min' : null;
}

/** `Gross margin %`, `% of sales`, `売上総利益率`, `YoY growth`: one figure by another. */
export function isRatioLabel(label: string): boolean {
  return /%|％|(?:率|比|割合)(?:[([].*[)\]])?$|\b(?:margin|ratio|growth|yoy|share|per cent|percent(?:age)?)\b/i.test(compact(label));
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

/** What the fields of forms, invoices and timesheets are called; beside a value such a name asks for it. */
const FIELD_NAME =
  /^(?:(?:(?:your|our|full|first|last|family|employee|staff|worker|student|customer|client|company|project|contact|supplier|vendor|vehicle|asset|account|bank|order|invoice|quote|quotation|document|report|job|cost|tax|vat|p\.?o\.?|purchase order|reference|registration|policy|serial|model|cost cent(?:re|er))[ -]?)*(?:name|id|i\.d\.|no\.?|number|#|nr\.?|code|ref\.?|reference|title|manager|address|date)|(?:issue|due|start|end|order|delivery|ship(?:ping)?|report|hire|birth|expiry|valid(?:ity)?|payment|print|review|inspection|submission) ?date|date (?:of .{1,20}|needed|required|issued|prepared|submitted|from|to)|department|dept\.?|division|section|team|position|designation|supervisor|manager|inspector|inspected by|owner|author|(?:approved|prepared|checked|requested|reviewed|submitted|issued|sold|authori[sz]ed|completed) (?:by|to)|(?:pay |reporting )?period(?: (?:from|to|covered|ending|start|end))?|week (?:ending|beginning|commencing|of|starting|no\.?)|month|year|fiscal year|address|city|state|zip(?: code)?|postcode|country|tel\.?|telephone|phone|mobile|fax|(?:e-?)?mail|web ?site|purpose|purpose of (?:trip|travel|visit)|subject|destination|bill to|ship to|sold to|attention|attn\.?|payment (?:terms|method)|terms|currency|version|revision|location|site|venue|attendees|signature|signed|cost cent(?:re|er)|mileage|grade|class|氏名|名前|お名前|フリガナ|ふりがな|社員(?:番号|名|コード|ID)|職員番号|所属(?:部署|部門|長)?|部署(?:名)?|部門名|部課名|役職|職種|日付|(?:作成|発行|請求|見積|注文|発注|受注|納品|提出|申請|記入|作業|点検|実施|検査|訪問|開催|更新|印刷)(?:日|年月日|日時)|(?:請求|見積|注文|発注|受注|納品|管理|伝票|案件|工事|文書|申請|登録|整理)(?:書)?(?:番号|No\.?|NO\.?|№)|件名|題名|案件名?|工事名|現場名|工事場所|納期|納入期限|納品場所|納入場所|受渡場所|受渡期日|(?:お)?(?:支払|取引)(?:期限|条件|方法|期日)|(?:お)?振込(?:先|期限)|有効期限|見積有効期限|(?:御)?(?:担当|担当者|ご担当)(?:者|名)?|責任者|承認者?|確認者|作成者|申請者|報告者|記入者|作業者|点検者|検査者|検査員|発注者|受注者|住所|所在地|郵便番号|電話(?:番号)?|携帯(?:電話)?|ＴＥＬ|メール(?:アドレス)?|顧客名|取引先名?|会社名|事業所名?|店舗名|学校名|団体名|対象(?:月|年月|期間)|年月|対象年度|期間|勤務(?:先|地|場所)|就業場所|設備名|機器名|機種|型式|製造番号|車両番号|天候|天気|場所|会場|議題|出席者|参加者|出張先|目的|用途|業務内容|通貨|登録番号|[一-龠]{1,4}(?:年月日|日付|番号|氏名)|[一-龠]{2,4}日)$/i;

/** Between the ends of a range that stand in cells of their own. */
export function isRangeMark(text: string): boolean {
  return /^(?:[~〜～―–-]|to|から|まで)$/i.test(text.trim());
}

export function isFieldName(text: string): boolean {
  const plain = compact(text).replace(/\s*[:：]$/, '');
  return plain.length <= 40 && FIELD_NAME.test(plain);
}

/** `……………`, `__________`: a place to sign or to fill in by hand. */
export function isFillIn(text: string): boolean {
  return /^(?:[._＿]{4,}|[…‥]{2,})[.…‥_＿\s]*$/.test(text.trim());
}

/** Not only a date, a period, a page or a remark in brackets. */
export function isPlainTitle(text: string): boolean {
  const plain = text.normalize('NFKC').trim();
  if (plain === '' || /^[([【<].*[)\]】>]$/.test(plain)) return false;
  // `Period: 2024-08` in one cell is a field of a form.
  const [, field] = /^([^:]{2,30}):\s*\S/.exec(plain) ?? [];
  if (field !== undefined && (isFieldName(field) || /^(?:region|filters?|status|category|generated|printed|run|user|unit)$/i.test(field)))
    return false;
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
