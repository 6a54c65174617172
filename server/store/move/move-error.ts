// Errors of a move, for operators.
import { describeDatabaseError } from "../database-error.ts";
import { toError } from "../../to-error.ts";

/** The message says what is wrong, where, and what to do; it contains no secret. */
export class MoveError extends Error {
  override name = "MoveError";
}

/** SQLSTATE, see https://www.postgresql.org/docs/18/errcodes-appendix.html */
const diskFull = "53100";

/**
 * @param place the database that the error comes from
 * @param verb the operation, for the message
 */
export function explainMoveError(caught: unknown, place: string, verb = "move"): MoveError {
  if (caught instanceof MoveError) return caught;
  const { code, message } = toError(caught);
  const isLost = describeDatabaseError(caught) !== null;
  const words =
    code === diskFull
      ? `The disk of ${place} is full. A ${verb} needs about as much room as the data has now. Free some space, then run the same command again.`
      : isLost
        ? `The connection to ${place} was lost: ${message}. Run the same command again.`
        : `Couldn't ${verb}: ${message} (${place}).`;
  return new MoveError(words, { cause: caught });
}
