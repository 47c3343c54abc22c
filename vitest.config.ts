import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Two cores: a third worker only makes real lines and real disks later.
    maxWorkers: 2,
    // V8 loses count of its code pages where threads come and go often and the processor has protection keys; see
    // docs/decisions/0003.
    execArgv: ['--no-memory-protection-keys'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    reporters: ['default'],
  },
});
