// The SDK's own download of Temporal's program into a folder, in a process of its own: the SDK has no way to give up on
// it. It also starts the program once. Arguments: folder, version. The file will be called temporal-<version>.
const [downloadDir, version] = process.argv.slice(2);

try {
  const { TestWorkflowEnvironment } = await import('@temporalio/testing');
  const executable = { type: 'cached-download', downloadDir, version, ttl: '3650d' };
  const environment = await TestWorkflowEnvironment.createLocal({ server: { executable } });
  await environment.teardown();
} catch (error) {
  console.error(String(error instanceof Error ? error.message : error).replaceAll('\n', ' '));
  process.exit(1);
}
process.exit(0);
