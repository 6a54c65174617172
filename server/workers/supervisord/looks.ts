// When a supervisord is looked at: soon while something is on its way, seldom while all is still, and whenever it is asked for.
import type { Clock } from "../../clock.ts";
import { createLoop } from "../../jobs/loop.ts";
import type { Log } from "../../log.ts";
import type { Connected, Contact } from "./contact.ts";

/** Milliseconds between two looks. */
export type Pace = {
  /** While something is on its way. */
  busyMs: number;
  /** While it cannot be asked: with the time between two attempts to connect, its return shows within 10 s. */
  awayMs: number;
  /** What changes by nobody's order shows that much later. */
  restMs: number;
  /** At the program files: a change of one is promised to show within a minute. */
  compareMs: number;
};

export const usualPace: Pace = { busyMs: 200, awayMs: 2000, restMs: 4000, compareMs: 45_000 };

type LooksOptions = {
  contact: Contact;
  /** Looks and takes the steps that follow. @returns whether it is worth it to look again soon */
  turn(connected: Connected, isFirst: boolean): Promise<boolean>;
  /** After each look, also one that failed. */
  looked(): void;
  /** Whether there is anything to look after. */
  isNeeded(): boolean;
  pace: Pace;
  clock: Clock;
  log: Log;
};

export function createLooks({ contact, turn, looked, isNeeded, pace, clock, log }: LooksOptions) {
  let isBusy = false;
  let atContact: (() => void)[] = [];

  async function look(): Promise<void> {
    const startMs = clock.now();
    const wasAway = contact.away() !== null;
    try {
      const isFirst = contact.isNew();
      isBusy = await turn(await contact.connect(), isFirst);
      contact.succeeded(startMs);
      if (wasAway && isNeeded()) log.info({}, "supervisord can be asked again");
      const goOn = atContact;
      atContact = [];
      for (const step of goOn) step();
      if (goOn.length > 0) loop.wake();
    } catch (error) {
      contact.failed(error);
      const away = contact.away();
      // Once, however often that is tried again.
      if (!wasAway && away !== null && isNeeded())
        log.warn({ reason: away.reason }, "supervisord cannot be asked, is tried again");
    }
    looked();
  }

  function nextLookMs(): number | null {
    if (!isBusy && !isNeeded()) return null;
    if (isBusy && contact.away() === null) return pace.busyMs;
    return contact.isFailing() ? pace.awayMs : pace.restMs;
  }

  const loop = createLoop({
    name: "look at supervisord",
    everyMs: nextLookMs,
    turn: look,
    clock,
    log,
  });

  return {
    wake: loop.wake,
    /** Calls once it is known what runs, with the first look that succeeds from now on. */
    atContact(step: () => void) {
      atContact.push(step);
    },
    /** No look follows the one under way; then the connection ends. */
    async stop(): Promise<void> {
      await loop.stop();
      contact.close();
    },
  };
}
