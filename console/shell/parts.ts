/** The parts of the console that are loaded when a page needs them. The page names them. */
const names = (): string[] => document.querySelector<HTMLMetaElement>('meta[name=console-parts]')?.content.split(' ') ?? [];

/** Runs a part, known by the file that it begins with, before it is needed. */
export async function loadPart(file: string): Promise<void> {
  const name = names().find((each) => each.startsWith(`${file}-`));
  if (name) await import(`/console/${name}`).catch(() => {});
}

const pages: Record<string, string[]> = {
  tables: ['TablePage', 'TableGrid'],
  sources: ['SourcePage', 'SheetGrid', 'TablePane'],
  ask: ['AskPage', 'SqlEditor'],
  'round-trip': ['RoundTripPage'],
  governance: ['GovernancePage'],
};

/** Loads what an address needs while the service is still asked who is there. Without this one part would wait for the other. */
export function loadPartsOf(path: string): void {
  const [first, workbook, section = ''] = path.split('/').filter(Boolean);
  const ofWorkbooks = workbook ? ['WorkbookPages', ...(pages[section] ?? [])] : ['WorkbooksPage'];
  const needed = first === 'settings' ? ['SettingsPage'] : first === 'workbooks' ? ofWorkbooks : [];
  for (const file of needed) void loadPart(file);
}

/** Fetches all parts once nothing else is to be done: a page that is opened while the connection is lost still works. */
export function fetchPartsWhenIdle(): () => void {
  const timer = setTimeout(async () => {
    for (const name of names()) await fetch(`/console/${name}`, { priority: 'low' }).catch(() => {});
  }, 3_000);
  return () => clearTimeout(timer);
}
