/** How much of a feed goes into one batch: whole groups, as many as fit, at least one. */

export interface NumberedGroup {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly changes: number;
  /** Of its changes as JSON. */
  readonly bytes: number;
}

export interface BatchLimits {
  readonly changesMax: number;
  readonly bytesMax: number;
}

/**
 * @param groups after `from`, in the order of their places.
 * @returns the last place of the batch; `from` where there is nothing. A single group larger than the limits goes alone.
 */
export function cutBatch(from: number, groups: readonly NumberedGroup[], limits: BatchLimits): number {
  let [to, changes, bytes] = [from, 0, 0];
  for (const group of groups) {
    if (group.firstSeq !== to + 1) break;
    changes += group.changes;
    bytes += group.bytes;
    const isOver = changes > limits.changesMax || bytes > limits.bytesMax;
    if (isOver && to > from) break;
    to = group.lastSeq;
    if (isOver) break;
  }
  return to;
}
