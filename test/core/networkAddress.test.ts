import { describe, expect, it } from 'vitest';
import { groupAddress, isInNetworks, isNetwork } from '../../core/networkAddress.ts';

describe('groupAddress', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['', ''],
    ['unknown', 'unknown'],
    ['x'.repeat(1000), 'x'.repeat(64)],
  ])('of %s is %s', (address, group) => expect(groupAddress(address)).toBe(group));
});

describe('isInNetworks', () => {
  it.each([
    ['127.0.0.1', ['127.0.0.0/8'], true],
    ['::ffff:127.0.0.1', ['127.0.0.0/8'], true],
    ['::1', ['127.0.0.0/8', '::1'], true],
    ['128.0.0.1', ['127.0.0.0/8', '::1'], false],
    ['10.1.2.3', ['10.1.2.3'], true],
    ['10.1.2.4', ['10.1.2.3'], false],
    ['2001:db8::1', ['2001:db8::/32'], true],
    ['2001:db9::1', ['2001:db8::/32'], false],
    ['nobody', ['0.0.0.0/0', '::/0'], false],
    ['', ['0.0.0.0/0'], false],
  ])('%s in %j: %s', (address, networks, inside) => expect(isInNetworks(address, networks)).toBe(inside));
});

describe('isNetwork', () => {
  it.each([
    ['10.0.0.0/8', true],
    ['::1', true],
    ['10.0.0.0/33', false],
    ['localhost', false],
    ['', false],
  ])('of %j is %s', (text, known) => expect(isNetwork(text)).toBe(known));
});
