/** Japanese eras: the year 1 of each, and the letter that stands for it. */
export const ERAS = [
  { name: '令和', short: 'R', firstYear: 2019 },
  { name: '平成', short: 'H', firstYear: 1989 },
  { name: '昭和', short: 'S', firstYear: 1926 },
  { name: '大正', short: 'T', firstYear: 1912 },
  { name: '明治', short: 'M', firstYear: 1868 },
] as const;

/** 2023 for (`令和`, `5`), 2019 for (`R`, `元`); null when the era is unknown. */
export function yearOfEra(era: string, year: string): number | null {
  const found = ERAS.find((e) => e.name === era || e.short === era.toUpperCase());
  const n = year === '元' ? 1 : Number(year);
  return found && Number.isInteger(n) && n >= 1 && n <= 99 ? found.firstYear - 1 + n : null;
}
