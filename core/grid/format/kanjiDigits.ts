/** `[DBNum1]` 一二三, `[DBNum2]` 壱弐参, `[DBNum3]` １２３. */

const DIGITS = { 1: '〇一二三四五六七八九', 2: '〇壱弐参四伍六七八九', 3: '０１２３４５６７８９' } as const;
const SMALL_UNITS = { 1: ['', '十', '百', '千'], 2: ['', '拾', '百', '阡'], 3: ['', '十', '百', '千'] } as const;
const LARGE_UNITS = { 1: ['', '万', '億', '兆'], 2: ['', '萬', '億', '兆'], 3: ['', '万', '億', '兆'] } as const;

/** `spoken`: 千二百 as one says the number, otherwise digit by digit. */
export function applyDigitStyle(text: string, style: 0 | 1 | 2 | 3, spoken: boolean): string {
  if (style === 0) return text;
  const digits = DIGITS[style];
  if (spoken && style !== 3 && /^[0-9]{1,16}$/.test(text)) return speak(text, style);
  return text.replace(/[0-9]/g, (digit) => digits.charAt(Number(digit)));
}

function speak(text: string, style: 1 | 2): string {
  if (/^0+$/.test(text)) return DIGITS[style].charAt(0);
  let spoken = '';
  for (let group = 0; group * 4 < text.length; group += 1) {
    const four = text.slice(Math.max(0, text.length - group * 4 - 4), text.length - group * 4);
    let part = '';
    for (let place = 0; place < four.length; place += 1) {
      const digit = Number(four[four.length - 1 - place]);
      if (digit === 0) continue;
      // 十 and 百 stand alone; 一万 and, in legal kanji, 壱拾 keep their one.
      const silent = style === 1 && digit === 1 && place > 0;
      part = `${silent ? '' : DIGITS[style][digit]}${SMALL_UNITS[style][place]}${part}`;
    }
    if (part) spoken = `${part}${LARGE_UNITS[style][group]}${spoken}`;
  }
  return spoken;
}
