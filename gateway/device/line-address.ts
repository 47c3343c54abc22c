/** A line as people write it (a path, or host:port), as a driver takes it. */
import type { LineConfig } from './line.ts';

export interface WrittenLine<Id extends string> {
  readonly id: Id;
  readonly serial?: string | undefined;
  /** host:port; an IPv6 host in brackets. */
  readonly tcp?: string | undefined;
  readonly baud: number;
}

/** @param written exactly one of `serial` and `tcp` is given. */
export function lineConfigOf<Id extends string>({
  id,
  serial,
  tcp = '',
  baud,
}: WrittenLine<Id>): LineConfig & { readonly id: Id } {
  if (serial !== undefined) return { id, kind: 'serial', path: serial, baud };
  const at = tcp.lastIndexOf(':');
  const host = tcp.slice(0, at).replace(/^\[(.*)\]$/, '$1');
  return { id, kind: 'tcp', host, port: Number(tcp.slice(at + 1)), baud };
}
