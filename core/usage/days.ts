const dayMs = 24 * 3_600_000;

/** A UTC day, such as 2026-11-16. */
export type Day = string;

export const dayOf = (at: Date): Day => at.toISOString().slice(0, 10);

export const startOf = (day: Day): Date => new Date(`${day}T00:00:00.000Z`);

export const addDays = (day: Day, days: number): Day => dayOf(new Date(startOf(day).getTime() + days * dayMs));

/** The last so many days, today included. */
export function lastDays(now: Date, days: number): { from: Day; to: Day } {
  const to = dayOf(now);
  return { from: addDays(to, 1 - days), to };
}
