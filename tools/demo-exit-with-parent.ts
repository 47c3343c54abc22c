/**
 * Loaded into a process that the demonstration starts: when the demonstration is gone, however it went, the process is
 * asked to stop. The channel between them serves only this and does not keep the process alive.
 */
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
process.channel?.unref();
