// Loaded by its path, inside workflows as well: messages and stacks of failures become a payload, which the codec encrypts.
const { DefaultFailureConverter } = require('@temporalio/common');

exports.failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
