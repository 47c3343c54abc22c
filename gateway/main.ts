#!/usr/bin/env node
/** The one program of the gateway: its first word says which part of it runs. */
import { tidyAfterStart } from './system/after-start.ts';
import { useCompileCache } from './system/compile-cache.ts';
import { useLeanAllocator } from './system/lean-allocator.ts';
import { keepHeapSmall } from './system/small-heap.ts';

const words = process.argv.slice(2);
const stays = words[0] === 'door' || words[0] === 'edge';
if (stays) useLeanAllocator();
keepHeapSmall();
useCompileCache();
if (stays) tidyAfterStart();
const { runCommand } = await import('./cli/run-command.ts');
process.exitCode = await runCommand(words);
