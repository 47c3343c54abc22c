import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Two cores: a third worker only makes real lines and real disks later.
    maxWorkers: 2,
    // Threads that strip types can end the process inside V8; see docs/decisions/0003.
    execArgv: ['--wasm-wrapper-tiering-budget=1000000000'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    reporters: ['default'],
  },
});
