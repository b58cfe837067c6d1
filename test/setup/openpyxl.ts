import { findPythonWith } from './pythonWith.ts';

export { runPython } from './pythonWith.ts';

export const findOpenpyxl = () =>
  findPythonWith({ module: 'openpyxl', wanted: 'openpyxl==3.1.5', without: 'files are not opened with openpyxl' });
