// Decides when to poll a supervisord: soon while something is in progress, rarely otherwise, and on request.
import type { Clock } from "../../clock.ts";
import { createLoop } from "../../jobs/loop.ts";
import type { Log } from "../../log.ts";
import type { Connected, Contact } from "./contact.ts";

/** Milliseconds between two polls. */
export type Pace = {
  /** While something is in progress. */
  busyMs: number;
  /**
   * While supervisord does not respond. Together with the time between two attempts to connect, its return is noticed within 10
   * s.
   */
  awayMs: number;
  /** While nothing is in progress: how late a change without an order is noticed. */
  restMs: number;
  /** Between comparisons of the program files, whose changes are promised to show within a minute. */
  compareMs: number;
};

export const usualPace: Pace = { busyMs: 200, awayMs: 2000, restMs: 4000, compareMs: 45_000 };

type LooksOptions = {
  contact: Contact;
  /**
   * Polls and takes the steps that follow.
   * @returns whether to poll again soon
   */
  turn(connected: Connected, isFirst: boolean): Promise<boolean>;
  /** Called after each poll, even a failed one. */
  looked(): void;
  /** Whether there is any worker to look after. */
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
      // Logged once, however often the connection is retried.
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
    /** Calls `step` after the next poll that succeeds, when it is known what runs. */
    atContact(step: () => void) {
      atContact.push(step);
    },
    /** Polls no more, and ends the connection after the current poll. */
    async stop(): Promise<void> {
      await loop.stop();
      contact.close();
    },
  };
}
