import { FairShares, type ShareLimits } from '../core/scheduling/fairShares.ts';

interface Waiting {
  go(): void;
  refuse(error: Error): void;
}

/** Lets work of many users run side by side, a limited number at a time and in fair turns. */
export class FairGate {
  private readonly shares: FairShares<Waiting>;
  private readonly refusal: () => Error;

  /** `refusal` is for those who find no room in the queue. */
  constructor(limits: ShareLimits, refusal = () => new Error('too many wait')) {
    this.shares = new FairShares(limits);
    this.refusal = refusal;
  }

  async run<T>(userId: string, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((go, refuse) => {
      this.shares.enter(userId, { go, refuse });
      this.dispatch();
      this.shares.takeSurplus(userId)?.refuse(this.refusal());
    });
    try {
      return await work();
    } finally {
      this.shares.leave(userId);
      this.dispatch();
    }
  }

  private dispatch(): void {
    for (let next = this.shares.next(); next; next = this.shares.next()) next.go();
  }
}
