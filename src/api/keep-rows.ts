// Keeps on screen what a new response does not change: rows that are the same are the same objects, so that they are not
// rendered again, and rows that move for a moment stay where they are.
import { replaceEqualDeep } from "@tanstack/react-query";
import { isInTransit } from "../../contract/states.ts";

type Row = { id: number; status?: string; last_backup?: { status: string } | null };

/** Its place in the order of attention is for as long only as it takes. */
const isMoving = ({ status, last_backup: last }: Row) =>
  isInTransit(status) || isInTransit(last?.status);

/**
 * @param known rows of earlier responses, whatever was wanted of the list
 * @param shown what the last response to the same question had
 */
export function keepRows<Item extends Row>(
  known: readonly Item[],
  shown: readonly Item[],
  rows: readonly Item[],
): Item[] {
  const before = new Map(known.map((row) => [row.id, row]));
  const places = new Map(shown.map(({ id }, place) => [id, place]));
  const kept = rows.map((row) => replaceEqualDeep(before.get(row.id), row));
  const stays = (row: Item) => isMoving(row) && places.has(row.id);
  const ordered = kept.filter((row) => !stays(row));
  const placeOf = ({ id }: Item) => places.get(id) ?? 0;
  for (const row of kept.filter(stays).sort((one, other) => placeOf(one) - placeOf(other)))
    ordered.splice(placeOf(row), 0, row);
  return ordered;
}
