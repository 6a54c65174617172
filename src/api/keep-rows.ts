// Reduces the changes that a new response makes on screen: equal rows remain the same objects, so that they are not
// rendered again, and rows in transit keep their positions.
import { replaceEqualDeep } from "@tanstack/react-query";
import { isInTransit } from "../../contract/states.ts";

type Row = { id: number; status?: string; last_backup?: { status: string } | null };

/** Whether a row is in transit: its position in the order of attention is temporary. */
const isMoving = ({ status, last_backup: last }: Row) =>
  isInTransit(status) || isInTransit(last?.status);

/**
 * @param known rows of earlier responses, with any filter
 * @param shown rows of the last response with the same filter
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
