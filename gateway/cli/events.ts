/** `events`: the history in plain words, and with --follow what happens now. */

import { type Call, type Command, numberFlag } from '#shared/command-line/command.ts';
import type { EntryView } from '../control/entry-view.ts';
import { entryWords } from '../control/entry-words.ts';
import type { FollowItem, StatusReport } from '../control/replies.ts';
import { facilityTime } from './facility-time.ts';
import { withGateway } from './gateway-call.ts';

export const command: Command = {
  usage: 'kannuki-gateway events [--newest 1…1000] [--follow] [--json]',
  options: { newest: { type: 'string' }, follow: { type: 'boolean', short: 'f' } },
  wordsMax: 0,
  run: (call) =>
    withGateway(call, async (client) => {
      const newest = numberFlag(call, 'newest', { min: 1, max: 1_000 }) ?? 20;
      const { facility } = (await client.call('status', {})) as StatusReport;
      const show = (view: EntryView) => call.terminal.out(lineOf(call, view, facility?.zone));
      if (!call.flags['follow']) {
        for (const view of (await client.call('events', { newest })) as readonly EntryView[]) show(view);
        return 0;
      }
      const onItem = (item: unknown) => {
        const { kind, ...rest } = item as FollowItem;
        if (kind === 'entry' && 'view' in rest) show(rest.view);
      };
      await client.call('follow', { newest }, { onItem }).catch((error: Error) => {
        if (!call.terminal.signal.aborted) throw error;
      });
      return 0;
    }),
};

function lineOf(call: Call, view: EntryView, zone: string | undefined): string {
  if (call.flags['json']) return JSON.stringify(view);
  const { entry } = view;
  const doubt = entry.clockState === 'untrusted' ? '?' : ' ';
  return `${String(entry.seq).padStart(7)} ${facilityTime(entry.at, zone)}${doubt} ${entryWords(view, call.terminal.language)}`;
}
