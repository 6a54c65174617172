// Hears what PostgreSQL announces, on a connection of its own. A notice that is missed is no harm: whoever waits for one
// looks by himself now and then.
import type { Logger } from "pino";
import pg from "pg";
import type { Clock } from "../clock.ts";
import { toError } from "../to-error.ts";

const retryMs = 1000;

type ListenerOptions = {
  connection: pg.PoolConfig;
  /** Plain lower-case names. */
  channels: readonly string[];
  clock: Clock;
  log: Logger;
};

export type Listener = {
  /** @param onNotice called with the notice's text; null = notices of the channel may have been missed */
  on(channel: string, onNotice: (text: string | null) => void): void;
  stop(): Promise<void>;
};

/** Connects, and again whenever the connection is lost. */
export function createListener({ connection, channels, clock, log }: ListenerOptions): Listener {
  const heard = new Map<string, (text: string | null) => void>();
  let client: pg.Client | null = null;
  let isOver = false;
  let cancel: () => void = () => undefined;

  async function connect(): Promise<void> {
    const fresh = new pg.Client({
      ...connection,
      connectionTimeoutMillis: 5000,
      // It may hear nothing for days; the other end is asked whether it is still there.
      keepAlive: true,
      keepAliveInitialDelayMillis: 30_000,
    });
    const lose = (error?: Error) => {
      if (client === fresh) client = null;
      if (isOver) return;
      if (error !== undefined)
        log.warn({ reason: error.message }, "the connection that hears of events was lost");
      cancel();
      cancel = clock.after(retryMs, () => void connect());
    };
    try {
      // Both may come for one loss; the second one only sets the same timer anew.
      fresh.on("error", lose);
      await fresh.connect();
      fresh.on("end", () => lose());
      fresh.on("notification", ({ channel, payload }) => heard.get(channel)?.(payload ?? ""));
      for (const channel of channels) await fresh.query(`listen ${channel}`);
      if (isOver) return await fresh.end();
      client = fresh;
      // Something may have been announced while nobody heard.
      for (const onNotice of heard.values()) onNotice(null);
    } catch (error) {
      lose(toError(error));
      await fresh.end().catch(() => undefined);
    }
  }

  void connect();
  return {
    on: (channel, onNotice) => void heard.set(channel, onNotice),
    async stop() {
      isOver = true;
      cancel();
      await client?.end();
    },
  };
}
