import { audited, type Notes, oneOp } from './notes.ts';

export function fileTracked(link: { id: string; name: string; kind: string }): Notes {
  return audited('file_link.track', link.name, { link_id: link.id, kind: link.kind });
}

/** How often a drive file is looked at has changed. */
export function followingSet(link: { id: string; name: string }, every: string | null): Notes {
  return audited('file_link.follow', link.name, { link_id: link.id, every });
}

export function versionCut(link: { id: string; name: string }, version: { n: number; kind: string }): Notes {
  return { ...audited('file_link.version', link.name, { link_id: link.id, n: version.n, kind: version.kind }), usage: oneOp };
}
