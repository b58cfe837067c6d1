export const columnTypes = ['VARCHAR', 'BIGINT', 'DOUBLE', 'DECIMAL(18,2)', 'BOOLEAN', 'DATE', 'TIMESTAMP', 'TIME', 'JSON'];
