import { DomainError } from '../../core/errors.ts';
import { isInNetworks } from '../../core/networkAddress.ts';
import { equalInConstantTime } from '../../store/secrets.ts';
import type { Services } from '../../store/services.ts';

/** Refuses whoever may not read the metrics. `address` is null if it is only that of a proxy. */
export function requireOperator({ config }: Services, address: string | null, authorization: string | null): void {
  const { networks, token } = config.metrics;
  if (address !== null && isInNetworks(address, networks)) return;
  if (token !== null && equalInConstantTime(authorization ?? '', `Bearer ${token}`)) return;
  throw new DomainError(
    'unauthenticated',
    'The metrics are for the operators of this installation.',
    'Ask from an address in SVC_METRICS_ADDRESSES, or send the token in SVC_METRICS_TOKEN as Authorization: Bearer.',
    { headers: { 'WWW-Authenticate': 'Bearer' } },
  );
}
