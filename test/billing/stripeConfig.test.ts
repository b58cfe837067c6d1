import { describe, expect, it } from 'vitest';
import { configToEnv } from '../../store/childEnv.ts';
import { loadConfig } from '../../store/config.ts';
import { stripeEnv } from '../setup/stripe.ts';

describe('the configuration', () => {
  const both = stripeEnv('https://stripe.example:8443');
  it('is whole or absent, and is handed on to processes', () => {
    const config = loadConfig(both);
    expect(config.stripe).toMatchObject({ apiUrl: 'https://stripe.example:8443' });
    expect(loadConfig({}).stripe).toBeNull();
    expect(loadConfig(configToEnv(config)).stripe).toEqual(config.stripe);
    expect(loadConfig({ ...both, STRIPE_API_URL: undefined }).stripe?.apiUrl).toBe('https://api.stripe.com');
  });

  it.each([
    [{ ...both, STRIPE_WEBHOOK_SECRET: '' }, /STRIPE_WEBHOOK_SECRET is not set/],
    [{ ...both, STRIPE_SECRET_KEY: '' }, /STRIPE_SECRET_KEY is not set/],
    [{ ...both, STRIPE_SECRET_KEY: 'pk_test_published' }, /STRIPE_SECRET_KEY does not look like one/],
    [{ ...both, STRIPE_WEBHOOK_SECRET: 'sk_test_wrong' }, /STRIPE_WEBHOOK_SECRET does not look like one/],
    [{ ...both, STRIPE_API_URL: 'https://stripe.example/v1' }, /STRIPE_API_URL must have no path/],
    [{ ...both, STRIPE_API_URL: 'stripe' }, /STRIPE_API_URL must be an address/],
  ])('that is half there is refused at the start: %#', (env, problem) => {
    const said = (() => {
      try {
        loadConfig(env);
        return '';
      } catch (error) {
        return (error as Error).message;
      }
    })();
    expect(said).toMatch(problem);
    // Never a secret.
    expect(said).not.toMatch(/published|wrong|notareal/);
  });
});
