import { pipeline, type Readable, Transform } from 'node:stream';

/** A stream with text before and after it. Whoever ends the one ends the other, so that nothing stays open behind it. */
export function wrapStream(before: string, inner: Readable, after: string): Readable {
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
  // What goes wrong is seen by whoever reads.
  pipeline(inner, whole, () => {});
  return whole;
}
