import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Asker, decideEffect, indexRules, type PolicyEffect, type PolicyRule, unreviewed } from '../../../core/policy/decideEffect.ts';

const tag = fc.constantFrom<string>('pii', 'hr', 'money', unreviewed);
const role = fc.constantFrom<string>('viewer', 'editor', 'admin', '経理');
const effect = fc.constantFrom<PolicyEffect>('allow', 'mask', 'deny');
const tags = fc.uniqueArray(tag);
const roles = fc.uniqueArray(role);
const rules = fc.uniqueArray(fc.record<PolicyRule>({ tag, role: fc.oneof(role, fc.constant('*')), effect }), {
  selector: ({ tag: t, role: r }) => `${t} ${r}`,
});
const asker = fc.record<Asker>({ roles, mayConfigure: fc.boolean() });
const strictness: Record<PolicyEffect, number> = { allow: 0, mask: 1, deny: 2 };

const decide = (ofColumn: readonly string[], set: readonly PolicyRule[], who: Asker) => decideEffect(ofColumn, indexRules(set), who);
const strict = (ofColumn: readonly string[], set: readonly PolicyRule[], who: Asker) => strictness[decide(ofColumn, set, who).effect];

describe('the effect of policies on a column', () => {
  const viewer = { roles: ['viewer'], mayConfigure: false };
  it.each<[string, string[], PolicyRule[], Asker, PolicyEffect, string | null]>([
    ['no tag', [], [{ tag: 'pii', role: '*', effect: 'deny' }], viewer, 'allow', null],
    ['no rule', ['pii'], [], viewer, 'allow', null],
    ['a rule for everybody', ['pii'], [{ tag: 'pii', role: '*', effect: 'mask' }], viewer, 'mask', 'pii *'],
    ['a rule for another role', ['pii'], [{ tag: 'pii', role: 'admin', effect: 'mask' }], viewer, 'allow', null],
    [
      'an exemption',
      ['pii'],
      [
        { tag: 'pii', role: '*', effect: 'deny' },
        { tag: 'pii', role: 'viewer', effect: 'allow' },
      ],
      viewer,
      'allow',
      'pii viewer',
    ],
    [
      'the strictest of two roles',
      ['pii'],
      [
        { tag: 'pii', role: 'viewer', effect: 'allow' },
        { tag: 'pii', role: '経理', effect: 'mask' },
      ],
      { roles: ['経理', 'viewer'], mayConfigure: false },
      'mask',
      'pii 経理',
    ],
    [
      'the strictest of two tags, whatever exempts from the other',
      ['hr', 'pii'],
      [
        { tag: 'pii', role: 'viewer', effect: 'allow' },
        { tag: 'hr', role: '*', effect: 'mask' },
      ],
      viewer,
      'mask',
      'hr *',
    ],
    ['not reviewed', [unreviewed], [{ tag: unreviewed, role: 'viewer', effect: 'allow' }], viewer, 'deny', 'unreviewed *'],
    ['not reviewed, by who may set policies', [unreviewed], [], { ...viewer, mayConfigure: true }, 'allow', null],
  ])('%s', (_, ofColumn, set, who, expected, decidedBy) => {
    const decided = decide(ofColumn, set, who);
    expect([decided.effect, decided.rule && `${decided.rule.tag} ${decided.rule.role}`]).toEqual([expected, decidedBy]);
  });

  it('is never laxer with one tag more', () => {
    fc.assert(fc.property(tags, tag, rules, asker, (some, more, set, who) => strict([...some, more], set, who) >= strict(some, set, who)));
  });

  it('is never laxer with one rule against a role more', () => {
    const against = fc.record<PolicyRule>({ tag, role, effect: fc.constantFrom('mask', 'deny') });
    fc.assert(
      fc.property(tags, rules, against, asker, (some, set, rule, who) => {
        fc.pre(!set.some((each) => each.tag === rule.tag && each.role === rule.role));
        // Beside other roles, or in the place of a rule for everybody that is no stricter.
        const forAll = set.find((each) => each.tag === rule.tag && each.role === '*')?.effect ?? 'allow';
        fc.pre(strictness[forAll] <= strictness[rule.effect]);
        return strict(some, [...set, rule], who) >= strict(some, set, who);
      }),
    );
  });

  it('is never laxer with one role more, where a rule for another role decides for each tag', () => {
    fc.assert(
      fc.property(tags, rules, asker, role, (some, set, who, more) => {
        const decidedByRole = (each: string) => set.some((rule) => rule.tag === each && who.roles.includes(rule.role));
        fc.pre(some.every(decidedByRole));
        return strict(some, set, { ...who, roles: [...who.roles, more] }) >= strict(some, set, who);
      }),
    );
  });

  it('does not depend on the order of tags, rules and roles, and names the same rule', () => {
    fc.assert(
      fc.property(tags, rules, asker, (some, set, who) => {
        const turned = { ...who, roles: [...who.roles].reverse() };
        expect(decide([...some].reverse(), [...set].reverse(), turned)).toEqual(decide(some, set, who));
      }),
    );
  });

  it('is that of the rule it names, which is about one of the tags and one of the roles', () => {
    fc.assert(
      fc.property(tags, rules, asker, (some, set, who) => {
        const { effect: decided, rule } = decide(some, set, who);
        if (!rule) return decided === 'allow';
        return rule.effect === decided && some.includes(rule.tag) && [...who.roles, '*'].includes(rule.role);
      }),
    );
  });
});
