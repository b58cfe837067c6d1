import type { Actor } from '../../store/pg/commit.ts';

/** The service itself, when it charges what is due. */
export const billingActor = (requestId: string): Actor => ({ name: 'system', userId: null, credential: 'none', requestId });
