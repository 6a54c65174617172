// Counts the statements of one piece of work among all those of a service, by the context in which they are made.
import { AsyncLocalStorage } from "node:async_hooks";
import pg from "pg";

const counting = new AsyncLocalStorage<string[]>();

/** @param query of a pool or a connection; what it calls in turn is the same query and not counted again */
function noted<Query extends (...parts: never[]) => unknown>(query: Query): Query {
  const noting = function (this: unknown, ...parts: Parameters<Query>): unknown {
    const [statement]: unknown[] = parts;
    const { text }: { text: string } =
      typeof statement === "string" ? { text: statement } : Object(statement);
    // One statement, however many ids it lists.
    counting.getStore()?.push(text.replaceAll(/\$\d+(?:, \$\d+)*/g, "$"));
    return counting.exit(() => query.apply(this, parts));
  };
  // It takes and gives what the original does.
  return noting as Query;
}

/** Counts from now on. @returns what ends that: test files share their process */
export function noteStatements(): () => void {
  const { query: poolQuery } = pg.Pool.prototype;
  const { query: clientQuery } = pg.Client.prototype;
  pg.Pool.prototype.query = noted(poolQuery);
  pg.Client.prototype.query = noted(clientQuery);
  return () => {
    pg.Pool.prototype.query = poolQuery;
    pg.Client.prototype.query = clientQuery;
  };
}

/** Runs something with all that follows from it. @param statements takes what it asks the database, also later on */
export const withStatements = <Result>(statements: string[], work: () => Result): Result =>
  counting.run(statements, work);

/** How often each of them was made. */
export const countEach = (statements: readonly string[]): Record<string, number> =>
  Object.fromEntries(
    [...Map.groupBy(statements, (text) => text)].map(([text, all]) => [text, all.length]),
  );
