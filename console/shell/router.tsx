import { createContext, type MouseEvent, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react';

/** Addresses of the page. Everything that somebody would share or reload is in them. */
interface Place {
  /** Decoded segments of the path. */
  path: string[];
  query: URLSearchParams;
  go(address: string, options?: { replace?: boolean }): void;
  /** Changes some of what stands behind the question mark; null takes it away. */
  setQuery(change: Record<string, string | null>): void;
}

const RouterContext = createContext<Place | null>(null);

const readAddress = () => `${location.pathname}${location.search}`;

/** An address from segments, which may be names with any letters. */
export const addressOf = (...segments: string[]): string => `/${segments.map(encodeURIComponent).join('/')}`;

export function Router({ children }: { children: ReactNode }) {
  const [address, setAddress] = useState(readAddress);
  useEffect(() => {
    const read = () => setAddress(readAddress());
    addEventListener('popstate', read);
    return () => removeEventListener('popstate', read);
  }, []);
  const go = useCallback<Place['go']>((next, { replace = false } = {}) => {
    if (next === readAddress()) return;
    history[replace ? 'replaceState' : 'pushState'](null, '', next);
    setAddress(readAddress());
  }, []);
  const setQuery = useCallback<Place['setQuery']>(
    (change) => {
      const next = new URLSearchParams(location.search);
      for (const [name, value] of Object.entries(change)) {
        if (value === null || value === '') next.delete(name);
        else next.set(name, value);
      }
      const text = next.toString();
      go(`${location.pathname}${text ? `?${text}` : ''}`, { replace: true });
    },
    [go],
  );
  const place = useMemo<Place>(() => {
    const { pathname, searchParams } = new URL(address, location.origin);
    return { path: pathname.split('/').filter(Boolean).map(decodeURIComponent), query: searchParams, go, setQuery };
  }, [address, go, setQuery]);
  return <RouterContext.Provider value={place}>{children}</RouterContext.Provider>;
}

export function usePlace(): Place {
  const place = useContext(RouterContext);
  if (!place) throw new Error('outside of the router');
  return place;
}

interface LinkProps {
  to: string;
  children: ReactNode;
  className?: string;
  current?: boolean;
  title?: string;
}

/** A link inside the page; with a modifier key it is the browser's. */
export function Link({ to, children, className, current, title }: LinkProps) {
  const { go } = usePlace();
  const open = (event: MouseEvent) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a href={to} onClick={open} className={className} title={title} aria-current={current ? 'page' : undefined}>
      {children}
    </a>
  );
}
