// The type of a row of the operation table, and the types derived from it.
import * as z from "zod/mini";

type Method = "GET" | "POST" | "PUT" | "DELETE";
type Schema = z.ZodMiniType;

/** The response of an operation that sends a file instead of JSON. */
export const file = z.custom<ReadableStream<Uint8Array>>();

export type Operation = {
  method: Method;
  /** Relative to the base address; `{name}` is an integer id. */
  path: `/api/${string}`;
  tag:
    | "backups"
    | "workers"
    | "webhooks"
    | "notifications"
    | "deployments"
    | "activity"
    | "servers"
    | "inventory"
    | "tokens";
  query?: Schema;
  body?: Schema;
  /**
   * The request may send a file of any length instead of the JSON body; this is the schema of its query in that case.
   */
  upload?: Schema;
  /** Schemas of successful responses by status; null = no body. */
  responses: { [status: number]: Schema | null };
  /** Body of a 409, where it has more than a message. */
  conflict?: Schema;
  /** The interface does not define the response body: another service may send anything, or nothing. */
  isBodyOpen?: true;
  /** Needs no token. Failures are rate-limited by address, like wrong tokens. */
  isPublic?: true;
  /** A one-time code in the query replaces the token, so that a browser can follow a link. */
  takesCode?: true;
  /** The ability that a token needs. Default: `read` for a GET, `*` otherwise. */
  ability?: "read" | "*";
  /** Requires a token for all servers: otherwise, a token for some could use this operation to get access to all. */
  reach?: "every server";
};

/** Keeps the literal types of a row. Bodies are added in `contract/served-operations.ts`. */
export const operation = <const Row extends Operation & { body?: never; upload?: never }>(
  row: Row,
): Row => row;

type Names<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never;

/** The ids in the path of a row. */
export type PathParams<Row extends Operation> = { [Name in Names<Row["path"]>]: number };

type Output<Part> = Part extends Schema ? z.output<Part> : undefined;
type Input<Part> = Part extends Schema ? z.input<Part> : undefined;

/** The query and body as a handler gets them: parsed, with defaults. */
export type ParsedQuery<Row extends Operation> = Output<Row["query"]>;
export type ParsedBody<Row extends Operation> = Output<Row["body"]>;
/** The query of a request that sends a file. */
export type ParsedUpload<Row extends Operation> = Output<Row["upload"]>;

/** The query and body that a client sends. */
export type QueryInput<Row extends Operation> = Input<Row["query"]>;
export type BodyInput<Row extends Operation> = Input<Row["body"]>;

/** The body of a successful response; undefined where there is none, or where the interface does not define it. */
export type ResponseData<Row extends Operation> =
  | { [Status in keyof Row["responses"]]: Output<Row["responses"][Status]> }[keyof Row["responses"]]
  | (Row extends { isBodyOpen: true } ? undefined : never);

/** Returns the path of a row with its ids filled in, e.g. `/api/worker/7/log`. */
export const pathOf = <Row extends Operation>(row: Row, params: PathParams<Row>): string =>
  row.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    // The names come from the path itself, so the lookup always succeeds; the types cannot express that.
    String((params as Record<string, number>)[name]),
  );

export const abilityOf = (row: Operation): "read" | "*" =>
  row.ability ?? (row.method === "GET" ? "read" : "*");
