/** The price list: what each plan includes. One credit is one unit of structuring or agent work. */
export const plans = {
  free: { includedCredits: 200 },
  payg: { includedCredits: 200 },
  solo: { includedCredits: 3_000 },
  pro: { includedCredits: 15_000 },
} as const;
