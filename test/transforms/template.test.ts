import { describe, expect, it } from 'vitest';
import { bindTemplate, unbindText } from '../../core/transforms/template.ts';

const bound = (template: string, ...args: string[]) => {
  const result = bindTemplate(template, args);
  return result.kind === 'bound' ? result.sql.replace(/\s+/g, ' ').trim() : result.faults;
};

describe('a template', () => {
  it.each([
    ['SELECT * FROM {{ a }}', ['a'], 'SELECT * FROM svc_arg_1'],
    [
      'SELECT * FROM {{a}} x JOIN {{  b }} y ON x.i = y.i JOIN {{a}} z',
      ['a', 'b'],
      'SELECT * FROM svc_arg_1 x JOIN svc_arg_2 y ON x.i = y.i JOIN svc_arg_1 z',
    ],
    ['SELECT \'{{ b }}\', "{{ c }}" FROM {{ a }} -- {{ d', ['a'], 'SELECT \'{{ b }}\', "{{ c }}" FROM svc_arg_1 -- {{ d'],
    ['SELECT $${{ b }}$$ /* {{ d */ FROM {{ a }}', ['a'], 'SELECT $${{ b }}$$ /* {{ d */ FROM svc_arg_1'],
    ["SELECT E'\\'{{ b }}', 'it''s {{ c }}' FROM {{ a }}", ['a'], "SELECT E'\\'{{ b }}', 'it''s {{ c }}' FROM svc_arg_1"],
    ["SELECT {'x': {'y': 1}} FROM {{ a }}", ['a'], "SELECT {'x': {'y': 1}} FROM svc_arg_1"],
    ['SELECT svc_arg_1 FROM {{ a }}', ['a'], 'SELECT svc_arg_1 FROM svc_arg__1'],
    ['SELECT 1', [], 'SELECT 1'],
  ])('%s', (template, args, sql) => expect(bound(template, ...args)).toBe(sql));

  it.each([
    ['unknown', 'SELECT * FROM {{ b }}', [], [{ pointer: '/template', detail: '{{ b }} names no argument of `args`' }]],
    ['unused', 'SELECT 1', ['a'], [{ pointer: '/args/a', detail: 'the template does not use {{ a }}' }]],
    ['only in a text', "SELECT '{{ a }}'", ['a'], [{ pointer: '/args/a', detail: 'the template does not use {{ a }}' }]],
    ['not closed', 'SELECT {{ a', [], [{ pointer: '/template', detail: 'the {{ at character 8 is not closed' }]],
    ['no name', 'SELECT {{ a b }}', [], [{ pointer: '/template', detail: '{{ }} holds the name of an argument and nothing else' }]],
    [
      'an expression',
      'SELECT {{ 1; DROP TABLE x }}',
      [],
      [{ pointer: '/template', detail: '{{ }} holds the name of an argument and nothing else' }],
    ],
    ['empty', 'SELECT {{}}', [], [{ pointer: '/template', detail: '{{ }} holds the name of an argument and nothing else' }]],
    [
      'a member of every object',
      'SELECT {{ constructor }}',
      [],
      [{ pointer: '/template', detail: '{{ constructor }} names no argument of `args`' }],
    ],
  ])('with an argument that is %s', (_, template, args, faults) => expect(bound(template, ...args)).toEqual(faults));

  it('is named in messages as it was written', () => {
    const args = Array.from({ length: 11 }, (_, i) => `t${i + 1}`);
    const result = bindTemplate(args.map((arg) => `{{ ${arg} }}`).join(' '), args);
    if (result.kind !== 'bound') throw new Error('not bound');
    expect(unbindText('no column x in svc_arg_11 or svc_arg_1', result.names)).toBe('no column x in {{ t11 }} or {{ t1 }}');
  });
});
