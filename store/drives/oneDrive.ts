import { isImportable } from '../../core/drives/importable.ts';
import type { DriveConfig } from '../config.ts';
import type { Outbound } from '../outbound/openOutbound.ts';
import { bearer, callDrive, callDriveJson } from './callDrive.ts';
import { type Drive, DriveFailure, type DriveFile } from './drive.ts';
import { makeOauth } from './oauth.ts';

const fields = 'id,name,size,folder,file,package,lastModifiedDateTime,lastModifiedBy,cTag,eTag';
const largestPage = 200;
/** Pages may hold no importable file at all; so many are read for one of ours. */
const mostPages = 5;

interface GraphItem {
  id: string;
  name: string;
  size?: number;
  folder?: object;
  package?: object;
  file?: { mimeType?: string };
  lastModifiedDateTime?: string;
  lastModifiedBy?: { user?: { displayName?: string } };
  /** Changes with the content alone. */
  cTag?: string;
  eTag?: string;
}

interface GraphPage {
  value?: GraphItem[];
  '@odata.nextLink'?: string;
}

/** OneDrive by Microsoft Graph, version 1.0. */
export function openOneDrive(outbound: Outbound, config: DriveConfig): Drive {
  const get = <T>(accessToken: string, url: string) => callDriveJson<T>(outbound, url, bearer(accessToken));
  const itemAt = (id: string) => `${config.apiUrl}/me/drive/${id === 'root' ? 'root' : `items/${encodeURIComponent(id)}`}`;
  const readPage = async (accessToken: string, url: string) => {
    const { value = [], '@odata.nextLink': next } = await get<GraphPage>(accessToken, url);
    // The token goes to the provider and to nobody else.
    if (next !== undefined && !next.startsWith(`${config.apiUrl}/`)) throw new DriveFailure('unavailable');
    return { files: value.map(readItem).filter((file) => file.isFolder || isImportable(file)), next: next ?? null };
  };

  return {
    provider: 'onedrive',
    canSearch: false,
    ...makeOauth(outbound, config, { scope: 'offline_access Files.Read User.Read', parameters: { response_mode: 'query' } }),
    maySee: (scopes) => scopes.some((scope) => /(^|\/)Files\.Read(Write)?(\.All)?$/i.test(scope)),
    async readEmail(accessToken) {
      const me = await get<{ mail?: string | null; userPrincipalName?: string }>(
        accessToken,
        `${config.apiUrl}/me?$select=mail,userPrincipalName`,
      );
      return me.mail ?? me.userPrincipalName ?? null;
    },
    /**
     * Graph mixes folders and files. A folder that is one page is sorted here; a larger one is read twice, first for its folders
     * and then for its files, so that nothing has to be remembered between pages.
     */
    async list(accessToken, { folderId, cursor, limit }) {
      const first = `${itemAt(folderId)}/children?$top=${Math.min(limit, largestPage)}&$orderby=name&$select=${fields}`;
      let { wanted, url } = cursor === undefined ? { wanted: 'folders', url: first } : readCursor(cursor);
      for (let page = 1; ; page += 1) {
        const { files, next } = await readPage(accessToken, url);
        const folders = files.filter(({ isFolder }) => isFolder);
        const others = files.filter(({ isFolder }) => !isFolder);
        if (cursor === undefined && page === 1 && next === null) return { files: [...folders, ...others], next: null };
        const found = wanted === 'folders' ? folders : others;
        const then = next !== null ? { wanted, url: next } : wanted === 'folders' ? { wanted: 'files', url: first } : null;
        if (then === null || found.length > 0 || page === mostPages) return { files: found, next: then && JSON.stringify(then) };
        ({ wanted, url } = then);
      }
    },
    async describe(accessToken, fileId) {
      return readItem(await get<GraphItem>(accessToken, `${itemAt(fileId)}?$select=${fields}`));
    },
    async download(accessToken, { id }, limits) {
      const options = { timeoutMs: 120_000, ...limits };
      const answer = await callDrive(outbound, `${itemAt(id)}/content`, { ...bearer(accessToken), ...options });
      if (answer.status === 200) return answer.body;
      answer.body.destroy();
      // An address for a few minutes that needs no token, and must not be given ours.
      const { location } = answer.headers;
      if (answer.status !== 302 || location === undefined) throw new DriveFailure('unavailable');
      const content = await callDrive(outbound, location, options);
      if (content.status === 200) return content.body;
      content.body.destroy();
      throw new DriveFailure('unavailable');
    },
  };
}

function readCursor(cursor: string): { wanted: string; url: string } {
  return JSON.parse(cursor) as { wanted: string; url: string };
}

function readItem(item: GraphItem): DriveFile {
  const isFolder = item.folder !== undefined;
  return {
    id: item.id,
    name: item.name,
    isFolder,
    mimeType: isFolder ? null : (item.file?.mimeType ?? null),
    size: isFolder ? null : (item.size ?? null),
    modifiedAt: item.lastModifiedDateTime === undefined ? null : new Date(item.lastModifiedDateTime),
    modifiedBy: item.lastModifiedBy?.user?.displayName ?? null,
    revision: item.cTag ?? item.eTag ?? null,
  };
}
