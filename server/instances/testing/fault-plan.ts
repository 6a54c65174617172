// Faults that are generated from a seed: the same ones, in the same order, with the same pauses.
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
  /** Milliseconds since the previous fault. */
  afterMs: number;
  /** Milliseconds in addition to the fault's own duration. */
  lengthMs: number;
  /** 0 ≤ n < 1: selects one of the instances that can be hit. */
  target: number;
};

/**
 * After each kind has come once, the four groups come equally often, and the kinds of a group in turn. An instance handles all
 * kinds of a group alike, so each stands for the others.
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
