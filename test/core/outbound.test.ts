import { describe, expect, it } from 'vitest';
import { type AllowedTarget, formatAllowedTarget, parseAllowedTarget } from '../../core/outbound/allowedTarget.ts';
import { isPublicAddress, type OutboundRules, readDestination, requireReachable } from '../../core/outbound/destination.ts';

function rulesWith(...allowed: string[]): OutboundRules {
  return {
    allowed: allowed.map((text) => parseAllowedTarget(text) as AllowedTarget),
    own: { urls: ['https://tables.example.com'], addresses: ['127.0.0.0/8', '192.0.2.7'], port: 8080 },
  };
}

describe('readDestination', () => {
  it.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://017700000001/',
    'http://127.0.0.1./',
    'http://①②⑦.⓪.⓪.①/',
    'http://127。0。0。1/',
    'http://%31%32%37.0.0.1/',
    'http://0/',
    'http://0.0.0.0/',
    'http://10.0.0.1/',
    'http://172.16.0.1/',
    'http://192.168.1.1/',
    'http://100.64.0.1/',
    'http://100.100.100.200/',
    'http://169.254.169.254/latest/meta-data/',
    'http://0xa9fea9fe/',
    'http://168.63.129.16/',
    'http://192.0.0.192/',
    'http://198.18.0.1/',
    'http://224.0.0.1/',
    'http://240.0.0.1/',
    'http://255.255.255.255/',
    'http://[::]/',
    'http://[::1]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://[::127.0.0.1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::ffff:0:127.0.0.1]/',
    'http://[64:ff9b::127.0.0.1]/',
    'http://[64:ff9b:1::127.0.0.1]/',
    'http://[2002:7f00:1::]/',
    'http://[2001:0:7f00:1::]/',
    'http://[fe80::1]/',
    'http://[fec0::1]/',
    'http://[fc00::1]/',
    'http://[fd00:ec2::254]/',
    'http://[ff02::1]/',
    'http://[2001:db8::1]/',
    'http://[4000::1]/',
    'file:///etc/passwd',
    'ftp://example.com/a.csv',
    'gopher://example.com/',
    'data:text/csv,a',
    'javascript:alert(1)',
    'http://user:password@example.com/',
    'http://example.com@127.0.0.1/',
    'http://user@example.com/',
    'http://',
    '//example.com/a.csv',
    'example.com/a.csv',
    '',
    'http://exa mple.com/',
    'http://[fe80::1%25eth0]/',
    'http://1.2.3.4.5/',
    'http://256.256.256.256/',
    `http://example.com/${'a'.repeat(2_000)}`,
    'https://tables.example.com/api/v1/me',
    'https://TABLES.example.com.:443/',
  ])('refuses %s', (url) => expect(() => readDestination(url, rulesWith())).toThrow(/^url-refused/));

  it.each([
    ['http://example.com/a.csv', 'example.com', 80],
    ['https://EXAMPLE.com./a.csv', 'example.com', 443],
    ['https://例え.jp/表.csv', 'xn--r8jz45g.jp', 443],
    ['http://93.184.216.34:8080/', '93.184.216.34', 8080],
    ['http://[2606:4700::1111]/', '2606:4700::1111', 80],
    ['http://[64:ff9b::8.8.8.8]/', '64:ff9b::808:808', 80],
    // Another port of the same name is another server.
    ['https://tables.example.com:9000/', 'tables.example.com', 9000],
  ])('reads %s', (url, host, port) => expect(readDestination(url, rulesWith())).toMatchObject({ host, port }));

  it.each([
    ['http://10.1.2.3/', '10.1.0.0/16'],
    ['http://10.1.2.3:81/', '10.1.2.3:81'],
    ['http://[fd00::1]:81/', '[fd00::1]:81'],
    ['http://[fd00::1]/', 'fd00::/8'],
    ['http://[::ffff:10.1.2.3]/', '10.1.2.3'],
  ])('lets %s pass with %s allowed', (url, allowed) =>
    expect(readDestination(url, rulesWith(allowed)).url.href).toBe(url.replace('10.1.2.3]', 'a01:203]')),
  );

  it.each([
    ['http://10.1.2.3:82/', '10.1.2.3:81'],
    ['http://10.2.2.3/', '10.1.0.0/16'],
    ['http://127.0.0.1:8080/', '127.0.0.0/8'],
    ['https://tables.example.com/', 'tables.example.com'],
  ])('refuses %s with %s allowed', (url, allowed) => expect(() => readDestination(url, rulesWith(allowed))).toThrow(/^url-refused/));
});

describe('requireReachable', () => {
  const names = readDestination('http://files.internal:8443/', rulesWith());
  it.each([
    [['93.184.216.34'], [], true],
    [['93.184.216.34', '2606:4700::1111'], [], true],
    [['93.184.216.34', '127.0.0.1'], [], false],
    [['::ffff:127.0.0.1'], [], false],
    [[], [], false],
    [['no address'], [], false],
    [['10.0.0.1'], ['files.internal'], true],
    [['10.0.0.1'], ['files.internal:8443'], true],
    [['10.0.0.1'], ['files.internal:443'], false],
    [['10.0.0.1'], ['internal'], false],
    [['10.0.0.1'], ['10.0.0.0/8'], true],
    [['10.0.0.1', '192.168.0.1'], ['10.0.0.0/8'], false],
  ])('of %j with %j allowed: %s', (addresses, allowed, reachable) => {
    const require = () => requireReachable(names, addresses, rulesWith(...allowed));
    if (reachable) require();
    else expect(require).toThrow(/^url-refused/);
  });

  it('refuses its own machine by any name', () => {
    const own = readDestination('http://rebound.example.org:8080/', rulesWith());
    expect(() => requireReachable(own, ['192.0.2.7'], rulesWith('192.0.2.0/24', 'rebound.example.org'))).toThrow(
      'address is that of this service',
    );
  });
});

it.each([
  ['1.1.1.1', true],
  ['2001:4860:4860::8888', true],
  ['64:ff9b::1.1.1.1', true],
  ['64:ff9b::10.0.0.1', false],
  ['localhost', false],
])('isPublicAddress of %s is %s', (address, is) => expect(isPublicAddress(address)).toBe(is));

describe('parseAllowedTarget', () => {
  it.each(['files.internal', 'files.internal:8443', '10.0.0.0/8', '10.1.2.3:80', '[fd00::1]:80', 'fd00::/8', 'fd00::1/128'])(
    'keeps %s',
    (text) => {
      expect(formatAllowedTarget(parseAllowedTarget(text) as AllowedTarget)).toBe(text);
    },
  );
  it.each([
    '',
    'http://files.internal',
    'files.internal/path',
    'a b',
    'files.internal:0',
    'files.internal:99999',
    '10.0.0.0/33',
    'a@b',
    '::1::',
  ])('refuses %j', (text) => expect(parseAllowedTarget(text)).toBeNull());
});
