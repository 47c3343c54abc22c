#!/usr/bin/env node
/** The one program of the gateway: its first word says which part of it runs. */
import { useCompileCache } from './system/compile-cache.ts';
import { keepHeapSmall } from './system/small-heap.ts';

keepHeapSmall();
useCompileCache();
const { runCommand } = await import('./cli/run-command.ts');
process.exitCode = await runCommand(process.argv.slice(2));
