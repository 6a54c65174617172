// Faults that one seed makes: the same ones, in the same order, with the same pauses.
import { makeRandom } from "../../testing/random.ts";

const kinds = [
  "kill",
  "stop",
  "crash PostgreSQL",
  "silence connections",
  "restart PostgreSQL",
  "end connections",
  "refuse connections",
] as const;
export type FaultKind = (typeof kinds)[number];

export type Fault = {
  kind: FaultKind;
  /** From the fault before it on. */
  afterMs: number;
  /** Beyond what the kind takes by itself. */
  lengthMs: number;
  /** 0 ≤ n < 1: which of the instances that can be hit. */
  target: number;
};

/**
 * Once each kind has come, four groups come equally often, and each kind of a group in turn. An instance lives through all kinds of
 * a group in the same way, so the first ones stand for them.
 */
export const groups: readonly (readonly FaultKind[])[] = [
  ["kill"],
  ["stop"],
  ["crash PostgreSQL", "restart PostgreSQL"],
  ["silence connections", "end connections", "refuse connections"],
];

export function planFaults(seed: number, many: number): Fault[] {
  const random = makeRandom(seed);
  const planned = Array.from({ length: many }, (_, index): Fault => {
    const group = groups[index % groups.length] ?? [];
    const turn = Math.floor(index / groups.length) % group.length;
    return {
      kind: kinds[index] ?? group[turn] ?? "kill",
      afterMs: 200 + random() * 2500,
      lengthMs: random() * 3000,
      target: random(),
    };
  });
  const order = planned.map((fault) => ({ fault, place: random() }));
  return order.toSorted((a, b) => a.place - b.place).map(({ fault }) => fault);
}
