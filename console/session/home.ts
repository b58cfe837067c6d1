import { useQuery } from '@tanstack/react-query';
import { api, ask, type Schemas } from '../api/client.ts';

/** What the service says of itself, to anybody: whether it works, how people get in, where else to look. */
export const useHome = () =>
  useQuery({
    queryKey: ['home'],
    // It answers a page to who does not ask for JSON.
    queryFn: async () => (await ask(api.GET('/', { headers: { Accept: 'application/json' } }))) as Schemas['Home'],
  });
