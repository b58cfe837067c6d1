import type { Charge, ChargeOutcome } from '../../store/billing/provider.ts';
import type { Services } from '../../store/services.ts';

/** What happens to the next charges; `cut`: the money is taken, but nobody hears of it. */
export type Mood = 'pays' | 'declines' | 'cut';

/** The embedded provider, watched: which keys it was asked for, and what it took for each. */
export function openBank(services: Services) {
  const taken = new Map<string, number>();
  const asked: Charge[] = [];
  const bank = {
    mood: 'pays' as Mood,
    /** Charges about which nothing can be learned. */
    isAway: (_charge: Charge): boolean => false,
    taken,
    asked,
    services: {
      ...services,
      payments: {
        ...services.payments,
        async charge(charge: Charge): Promise<ChargeOutcome> {
          asked.push(charge);
          if (bank.isAway(charge)) throw new Error('the bank does not answer');
          if (bank.mood === 'declines' && !taken.has(charge.key)) return { outcome: 'declined', reason: 'card_declined' };
          const outcome = await services.payments.charge(charge);
          if (outcome.outcome === 'paid') taken.set(charge.key, charge.amount);
          if (bank.mood === 'cut') throw new Error('the connection was cut');
          return outcome;
        },
      },
    },
  };
  return bank;
}
