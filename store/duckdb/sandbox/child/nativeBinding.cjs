// Stands for @duckdb/node-bindings in isolated processes, where its package would search in places that are not visible.
module.exports = require('./native/duckdb.node');
