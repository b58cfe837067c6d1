let listed: Promise<Set<string>> | undefined;

/** Loaded when it is needed first: the list takes a while to unpack. */
async function loadList(): Promise<Set<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set(dictionary['passwords-common']);
}

/** Whether many people use this password: as it is, or with up to four digits or signs behind it. Case does not count. */
export async function isCommonPassword(password: string): Promise<boolean> {
  listed ??= loadList();
  const list = await listed;
  const plain = password.toLowerCase();
  const stem = plain.replace(/[0-9!-/:-@[-`{-~]{1,4}$/, '');
  return list.has(plain) || list.has(stem);
}
