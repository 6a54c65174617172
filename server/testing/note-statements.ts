// Records the SQL statements of one piece of work among all those of a service, by its async context.
import { AsyncLocalStorage } from "node:async_hooks";
import pg from "pg";

export type Statement = { text: string; values: readonly unknown[] };

const noting = new AsyncLocalStorage<Statement[]>();

/** @param query of a pool or a connection; nested calls belong to the same query and are not recorded again */
function noted<Query extends (...parts: never[]) => unknown>(query: Query): Query {
  const wrapper = function (this: unknown, ...parts: Parameters<Query>): unknown {
    const [statement, given]: unknown[] = parts;
    const { text, values = [] }: { text: string; values?: unknown[] } =
      typeof statement === "string" ? { text: statement } : Object(statement);
    noting.getStore()?.push({ text, values: Array.isArray(given) ? given : values });
    return noting.exit(() => query.apply(this, parts));
  };
  // The wrapper has the parameters and the result of the original.
  return wrapper as Query;
}

/** Starts recording. @returns a function that restores `pg`, because test files share their process */
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

/** Runs some work. @param statements receives the statements of the work and of all that it starts, also later */
export const withStatements = <Result>(statements: Statement[], work: () => Result): Result =>
  noting.run(statements, work);

/** Counts how often each statement was sent, regardless of the number of ids in a list. */
export function countEach(statements: readonly Statement[]): Record<string, number> {
  const texts = statements.map(({ text }) => text.replaceAll(/\$\d+(?:, \$\d+)*/g, "$"));
  return Object.fromEntries(
    [...Map.groupBy(texts, (text) => text)].map(([text, all]) => [text, all.length]),
  );
}
