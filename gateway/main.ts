#!/usr/bin/env node
/** The one program of the gateway: its first word says which part of it runs. */
import { runCommand } from './cli/run-command.ts';

process.exitCode = await runCommand(process.argv.slice(2));
