// Watches what a bulk action was asked about until it has come to its end: that a request was taken says little.
import { isInTransit } from "../../contract/states.ts";

/** What a thing is now: its word, and why it is that. Without a word nobody knows. */
export type Seen = { status: string | undefined; reason?: string | null | undefined };

export type End =
  | { kind: "moving" | "ended"; word: string | null }
  /** It was asked for, and did not come to the end that it should. */
  | { kind: "broken"; reason: string | null };

/** @param seen null = it is gone */
export function endOf(seen: Seen | null): End {
  if (seen === null) return { kind: "ended", word: "deleted" };
  if (seen.status === undefined) return { kind: "ended", word: null };
  const { status, reason } = seen;
  if (isInTransit(status)) return { kind: "moving", word: status };
  return status === "failed"
    ? { kind: "broken", reason: reason?.split("\n", 1)[0] ?? null }
    : { kind: "ended", word: status };
}

/** What takes longer is looked at more rarely, and after half an hour no more. */
const paceMs = [
  ...Array.from({ length: 20 }, () => 500),
  ...Array.from({ length: 50 }, () => 2_000),
  ...Array.from({ length: 170 }, () => 10_000),
];

type FollowOptions = {
  ids: ReadonlySet<number>;
  /** Reads what each of them is now; those that are gone are not in it. */
  look: () => Promise<ReadonlyMap<number, Seen>>;
  note: (ends: ReadonlyMap<number, End>) => void;
  isOver: () => boolean;
  pause?: (ms: number) => Promise<unknown>;
};

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Resolves once none of them moves any more, or nobody wants to know. */
export async function follow({
  ids,
  look,
  note,
  isOver,
  pause = wait,
}: FollowOptions): Promise<void> {
  for (const ms of paceMs) {
    // The service may be away for a while; what it did meanwhile is seen later.
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
