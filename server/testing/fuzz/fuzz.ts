// Sends planned requests to a service and checks each response.
import type { Resources } from "../resources.ts";
import { kindOf } from "../resources.ts";
import { toCurl } from "./curl.ts";
import { createJudge, type Answered, type Described, type Description } from "./description.ts";
import { createPool } from "./pool.ts";
import type { Planned } from "./requests.ts";
import { secretIn } from "./secrets.ts";

type Sent = {
  method: string;
  /** Path and query. */
  path: string;
  headers: (readonly [string, string])[];
  body: Uint8Array | null;
};

export type FuzzOptions = {
  /** URL of the service for messages and parsing; `send` may use another way. */
  url: string;
  token: string;
  send(request: Sent): Promise<{ status: number; headers: Headers; body: string }>;
  description: Description;
  described: readonly Described[];
  resources: Resources;
  secrets: readonly string[];
};

/** Operations that show a secret once to their caller, and the field with it. */
const showing: Record<string, string> = {
  createWebhook: "secret",
  rotateWebhookSecret: "secret",
  createToken: "token",
};

export function createFuzz(options: FuzzOptions) {
  const { url, described, resources, secrets } = options;
  const judge = createJudge(options.description);
  const pool = createPool(resources.ids);
  const logins = { full: options.token, ...resources.tokens };
  const statuses = new Map<string, number>();

  function headersOf({ login, headers }: Planned): Sent["headers"] {
    if (login === "none") return headers;
    const value = typeof login === "string" ? `Bearer ${logins[login]}` : login.header;
    return [...headers, ["Authorization", value]];
  }

  /** Returns the path as the service parses it, without the query. */
  function readPath(path: string): string {
    const { pathname } = new URL(url + path);
    try {
      return decodeURI(pathname);
    } catch {
      return pathname;
    }
  }

  /** Returns the body without the secret that only this operation may show. */
  function withoutShown(operation: string | undefined, { status, body }: Answered): string {
    const field = operation === undefined ? undefined : showing[operation];
    if (field === undefined || status >= 300) return body;
    const { [field]: _shown, ...others }: Record<string, unknown> = JSON.parse(body);
    return JSON.stringify(others);
  }

  const asOperator = (method: string, path: string) =>
    options.send({
      method,
      path,
      headers: [["Authorization", `Bearer ${options.token}`]],
      body: null,
    });

  return {
    /** Number of responses by status. */
    statuses,

    /** @throws Error with what is wrong with the response, and a command that repeats the request */
    async attempt(planned: Planned): Promise<void> {
      const id = pool.idFor({ method: planned.method, path: planned.path.split("?")[0] ?? "" });
      const path = planned.path.replace(/\{\w+\}/, String(id));
      const sent = { ...planned, path, headers: headersOf(planned) };
      const { status, headers, body } = await options.send(sent);
      const answered = { status, type: headers.get("content-type"), body };
      statuses.set(String(status), (statuses.get(String(status)) ?? 0) + 1);
      const readAs = readPath(path);
      const pattern = planned.path.split("?")[0];
      const operation = described.find(
        (one) => one.method === planned.method && one.path === pattern,
      )?.name;

      const fail = (problem: string): never => {
        const line = toCurl(sent.method, url + path, planned.headers, sent.body);
        throw new Error(
          `The answer ${status} ${problem}.\nAsked by ${JSON.stringify(planned.login)}: ${line.slice(0, 4000)}\nAnswered: ${body.slice(0, 1000)}`,
        );
      };
      if (status >= 500) fail("is an error of the service");
      const problem = judge.problemOf(sent.method, readAs, answered);
      if (problem !== null) fail(problem);
      if (headers.get("x-content-type-options") !== "nosniff")
        fail("may be taken for another type");
      const told = `${withoutShown(operation, answered)}\n${JSON.stringify([...headers])}`;
      const secret = secretIn(told, secrets);
      if (secret !== null) fail(`holds the secret ${secret}`);

      const isGone = status === 404 || (status === 204 && operation?.startsWith("delete"));
      const kind = kindOf(planned.path);
      if (kind !== null && isGone) pool.gone(kind, id);
      if (operation !== undefined && (status === 201 || status === 202)) {
        const made: { id: number } = JSON.parse(body);
        const surplus = pool.made(operation, made.id);
        if (surplus !== null) await asOperator("DELETE", surplus);
      }
    },
  };
}
