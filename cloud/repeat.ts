/** Does something again and again, one at a time, until stopped; what fails is told and tried the next time. */
export function repeat(
  work: () => Promise<unknown>,
  everyMs: number,
  onFault: (error: unknown) => void,
): { readonly stop: () => Promise<void> } {
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const turn = (): void => {
    running = work()
      .catch(onFault)
      .then(() => {
        if (!isStopped) timer = setTimeout(turn, everyMs);
      });
  };
  turn();
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
