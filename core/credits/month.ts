/** A month in UTC as a sortable number, such as 202611. */
export function monthOf(at: Date): number {
  return at.getUTCFullYear() * 100 + at.getUTCMonth() + 1;
}

export function nameMonth(month: number): string {
  return `${Math.floor(month / 100)}-${String(month % 100).padStart(2, '0')}`;
}

/** The month of lots that never expire. */
export const never = 999_912;
