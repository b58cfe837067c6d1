// Serves S3 from a folder: node s3rver.mjs FOLDER PORT BUCKET. For trying things out: it keeps nobody out.
import S3rver from '@20minutes/s3rver';

const [directory, port, bucket] = process.argv.slice(2);
const server = new S3rver({
  address: '127.0.0.1',
  port: Number(port),
  silent: true,
  directory,
  // It misjudges the signature of requests to the bucket itself.
  allowMismatchedSignatures: true,
  configureBuckets: [{ name: bucket }],
});
await server.run();
