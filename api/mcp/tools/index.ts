import type { Tool } from '../tool.ts';
import { chartTools } from './chartTools.ts';
import { dataTools } from './dataTools.ts';
import { fileTools } from './fileTools.ts';
import { findTools } from './findTools.ts';

export const tools: Tool[] = [...findTools, ...dataTools, ...fileTools, ...chartTools];
