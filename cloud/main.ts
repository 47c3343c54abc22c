#!/usr/bin/env node
/** The one program of the cloud: its first word says what it does. */
import { runCommand } from './cli/run-command.ts';

process.exitCode = await runCommand(process.argv.slice(2));
