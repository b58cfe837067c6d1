/** What a rule does to a column: `allow` exempts a role from the rule for everybody. */
export type PolicyEffect = 'allow' | 'mask' | 'deny';

export interface PolicyRule {
  tag: string;
  /** `*`: everybody. */
  role: string;
  effect: PolicyEffect;
}

/** Effects by tag and role. */
export type Rules = ReadonlyMap<string, ReadonlyMap<string, PolicyEffect>>;

/** Who would see a column. */
export interface Asker {
  roles: readonly string[];
  /** Whether they may set tags and policies. */
  mayConfigure: boolean;
}

export interface Decision {
  effect: PolicyEffect;
  /** The rule that decided; null when none applies. */
  rule: PolicyRule | null;
}

const everybody = '*';

/** On columns of files that came again and were not there before: nobody but who may set policies sees them. */
export const unreviewed = 'unreviewed';

const strictness: Record<PolicyEffect, number> = { allow: 0, mask: 1, deny: 2 };

export function indexRules(rules: Iterable<PolicyRule>): Rules {
  const byTag = new Map<string, Map<string, PolicyEffect>>();
  for (const { tag, role, effect } of rules) byTag.set(tag, (byTag.get(tag) ?? new Map()).set(role, effect));
  return byTag;
}

/**
 * What the rules do to a column with these tags. For one tag a rule for a role that the asker holds beats the one for everybody,
 * and of several such rules the strictest wins; over the tags the strictest wins.
 */
export function decideEffect(tags: Iterable<string>, rules: Rules, asker: Asker): Decision {
  let decided: PolicyRule | null = null;
  for (const tag of [...tags].sort()) decided = strictest(decided, decideTag(tag, rules.get(tag), asker));
  return { effect: decided?.effect ?? 'allow', rule: decided };
}

function decideTag(tag: string, ofTag: ReadonlyMap<string, PolicyEffect> | undefined, { roles, mayConfigure }: Asker): PolicyRule | null {
  // No rule can open what nobody has looked at.
  if (tag === unreviewed && !mayConfigure) return { tag, role: everybody, effect: 'deny' };
  if (!ofTag) return null;
  const ruleFor = (role: string): PolicyRule | null => {
    const effect = ofTag.get(role);
    return effect ? { tag, role, effect } : null;
  };
  const held = [...roles].sort().reduce<PolicyRule | null>((found, role) => strictest(found, ruleFor(role)), null);
  return held ?? ruleFor(everybody);
}

function strictest(a: PolicyRule | null, b: PolicyRule | null): PolicyRule | null {
  if (!a || !b) return a ?? b;
  return strictness[b.effect] > strictness[a.effect] ? b : a;
}
