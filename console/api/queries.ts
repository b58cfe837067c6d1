import { QueryClient } from '@tanstack/react-query';
import { Problem } from './problem.ts';

/** What was read is shown at once when a page is opened again, and read anew behind it. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      refetchOnWindowFocus: true,
      // A refusal stays one; a connection may come back.
      retry: (failures, error) => !(error instanceof Problem && error.status < 500) && failures < 3,
    },
    mutations: { retry: false },
  },
});
