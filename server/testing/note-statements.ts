// Notes the statements of one piece of work among all those of a service, by the context in which they are made.
import { AsyncLocalStorage } from "node:async_hooks";
import pg from "pg";

export type Statement = { text: string; values: readonly unknown[] };

const noting = new AsyncLocalStorage<Statement[]>();

/** @param query of a pool or a connection; what it calls in turn is the same query and not noted again */
function noted<Query extends (...parts: never[]) => unknown>(query: Query): Query {
  const wrapper = function (this: unknown, ...parts: Parameters<Query>): unknown {
    const [statement, given]: unknown[] = parts;
    const { text, values = [] }: { text: string; values?: unknown[] } =
      typeof statement === "string" ? { text: statement } : Object(statement);
    noting.getStore()?.push({ text, values: Array.isArray(given) ? given : values });
    return noting.exit(() => query.apply(this, parts));
  };
  // It takes and gives what the original does.
  return wrapper as Query;
}

/** Notes from now on. @returns what ends that: test files share their process */
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
export const withStatements = <Result>(statements: Statement[], work: () => Result): Result =>
  noting.run(statements, work);

/** How often each of them was made. However many ids it lists, it is one. */
export function countEach(statements: readonly Statement[]): Record<string, number> {
  const texts = statements.map(({ text }) => text.replaceAll(/\$\d+(?:, \$\d+)*/g, "$"));
  return Object.fromEntries(
    [...Map.groupBy(texts, (text) => text)].map(([text, all]) => [text, all.length]),
  );
}
