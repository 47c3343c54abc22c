/** What a running simulated site tells: events as they happen, and everything at a glance. Plain values that survive JSON. */

/** Something seen at the site; `what` is for people and stable enough for tests. */
export interface SiteEvent {
  readonly at: string;
  readonly subject: string;
  readonly what:
    | 'opened'
    | 'closed'
    | 'forced'
    | 'gave-up'
    | 'current-on'
    | 'current-off'
    | 'session-begun'
    | 'session-ended'
    | 'key-installed'
    | 'panel-connected'
    | 'panel-gone'
    | 'faulted'
    /** A lamp or the buzzer, in words. */
    | 'signal';
  readonly detail?: string;
}

export interface DoorStatus {
  readonly door: string;
  readonly name: string;
  readonly leaf: 'open' | 'closed';
  readonly isPassable: boolean;
  readonly isCurrentOn: boolean;
  readonly isContactStuck: boolean;
  readonly isJammed: boolean;
  readonly isFireActive: boolean;
}

export interface PeripheralStatus {
  readonly peripheral: string;
  readonly line: string;
  readonly address: number;
  readonly isPlugged: boolean;
  readonly isPowered: boolean;
  readonly channel: 'none' | 'default-key' | 'secure';
}

export interface LineStatus {
  readonly line: string;
  /** The port it listens on; `null` for a serial line. */
  readonly port: number | null;
  readonly isDropped: boolean;
  readonly panels: number;
}

export interface SiteStatus {
  readonly lines: readonly LineStatus[];
  readonly peripherals: readonly PeripheralStatus[];
  readonly doors: readonly DoorStatus[];
}
