/** What is tried: the rules as they run in production. A test of the simulation itself puts one broken rule in their place. */
import { offeredMs } from '#cloud/gateway-sync/command-lifecycle.ts';
import { cutBatch } from '#cloud/gateway-sync/cut-batch.ts';
import { judgeAck } from '#cloud/gateway-sync/judge-ack.ts';
import { judgePoll } from '#cloud/gateway-sync/judge-poll.ts';
import { judgeUpload } from '#cloud/gateway-sync/judge-upload.ts';
import { numberFeed } from '#cloud/gateway-sync/number-feed.ts';
import { judgeJournalAck } from '#gateway/journal/judge-ack.ts';
import { applied, judgeBatch, judgeRepair, judgeUrgent } from '#gateway/replica/follow-feed.ts';
import { judgeChunk, judgeWhole } from '#gateway/replica/follow-snapshot.ts';
import { followFrom } from '#gateway/replica/follow-state.ts';
import { judgeCommand, judgeLease, judgeTime } from '#gateway/replica/judge-answer.ts';
import { withNonce } from '#gateway/replica/live-nonces.ts';
import { stepSync } from '#gateway/sync/sync-machine.ts';
import { isEffective, takesLookupFrom } from '#shared/feed-rule.ts';

/** In which order the shells do things; each is a rule of its own. */
interface Order {
  /** History is stored before it is answered for. */
  readonly storeThenAck: boolean;
  /** A command is in the history before anything moves. */
  readonly journalThenAct: boolean;
  /** Doors use the rows before an ack says so. */
  readonly useThenAck: boolean;
  /** Numbers are given under the gateway's lock. */
  readonly lockThenNumber: boolean;
  /** Groups are found by having no number, not by following the last. */
  readonly findUnnumbered: boolean;
  /** Groups are numbered in the order in which they were made. */
  readonly oldestFirst: boolean;
}
const inOrder: Order = {
  storeThenAck: true,
  journalThenAct: true,
  useThenAck: true,
  lockThenNumber: true,
  findUnnumbered: true,
  oldestFirst: true,
};

export const parts = {
  applied,
  cutBatch,
  followFrom,
  isEffective,
  judgeAck,
  judgeBatch,
  judgeChunk,
  judgeCommand,
  judgeJournalAck,
  judgeLease,
  judgePoll,
  judgeRepair,
  judgeTime,
  judgeUpload,
  judgeUrgent,
  judgeWhole,
  numberFeed,
  offeredMs,
  stepSync,
  takesLookupFrom,
  withNonce,
  order: inOrder,
};
export type Parts = typeof parts;
