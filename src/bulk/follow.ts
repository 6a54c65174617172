// Watches the objects of a bulk action until they have settled, because acceptance of a request says little about its
// effect.
import { isInTransit } from "../../contract/states.ts";

/** The present state of an object, and the reason. Without a status, the state is unknown. */
export type Seen = { status: string | undefined; reason?: string | null | undefined };

export type End =
  | { kind: "moving" | "ended"; word: string | null }
  /** The request was accepted, but did not lead to its result. */
  | { kind: "broken"; reason: string | null };

/** @param seen null = it was deleted */
export function endOf(seen: Seen | null): End {
  if (seen === null) return { kind: "ended", word: "deleted" };
  if (seen.status === undefined) return { kind: "ended", word: null };
  const { status, reason } = seen;
  if (isInTransit(status)) return { kind: "moving", word: status };
  return status === "failed"
    ? { kind: "broken", reason: reason?.split("\n", 1)[0] ?? null }
    : { kind: "ended", word: status };
}

/** Polls more rarely over time, and stops after half an hour. */
const paceMs = [
  ...Array.from({ length: 20 }, () => 500),
  ...Array.from({ length: 50 }, () => 2_000),
  ...Array.from({ length: 170 }, () => 10_000),
];

type FollowOptions = {
  ids: ReadonlySet<number>;
  /** Reads the present state of each object; deleted ones are missing. */
  look: () => Promise<ReadonlyMap<number, Seen>>;
  note: (ends: ReadonlyMap<number, End>) => void;
  isOver: () => boolean;
  pause?: (ms: number) => Promise<unknown>;
};

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Resolves once no object is in transit, or the result is no longer needed. */
export async function follow({
  ids,
  look,
  note,
  isOver,
  pause = wait,
}: FollowOptions): Promise<void> {
  for (const ms of paceMs) {
    // The service may be unreachable for a while; changes meanwhile are seen later.
    const seen = await look().catch(() => null);
    if (isOver()) return;
    if (seen !== null) {
      const ends = new Map([...ids].map((id) => [id, endOf(seen.get(id) ?? null)]));
      note(ends);
      if (![...ends.values()].some(({ kind }) => kind === "moving")) return;
    }
    await pause(ms);
    if (isOver()) return;
  }
}
