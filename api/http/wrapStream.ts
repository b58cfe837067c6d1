import { pipeline, type Readable, Transform } from 'node:stream';

/** A JSON object whose last member is a stream of rows. */
export function wrapRows(head: object, rows: Readable): Readable {
  return wrapStream(`${JSON.stringify(head).slice(0, -1)},"rows":`, rows, '}');
}

/** Adds text before and after a stream. Ending either stream ends the other, so that nothing stays open. */
function wrapStream(before: string, inner: Readable, after: string): Readable {
  const whole = new Transform({
    construct(done) {
      this.push(before);
      done();
    },
    transform: (piece, _, done) => done(null, piece),
    flush(done) {
      this.push(after);
      done();
    },
  });
  // The reader of the stream sees the errors.
  pipeline(inner, whole, () => {});
  return whole;
}
