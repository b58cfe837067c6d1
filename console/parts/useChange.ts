import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useNotices } from './notices.tsx';

/** Does something to the service, says if it was refused, and has read anew what may look otherwise now. */
export function useChange(queryKey: QueryKey): (work: () => Promise<unknown>) => Promise<void> {
  const queries = useQueryClient();
  const { fail } = useNotices();
  return async (work) => {
    try {
      await work();
    } catch (error) {
      fail(error);
    }
    void queries.invalidateQueries({ queryKey });
  };
}
