// The type of a row of the operation table, and the types derived from it.
import * as z from "zod/mini";

type Method = "GET" | "POST" | "PUT" | "DELETE";
type Schema = z.ZodMiniType;

/** The response of an operation that sends a file as it is, not JSON. */
export const file = z.custom<ReadableStream<Uint8Array>>();

export type Operation = {
  method: Method;
  /** Path below the base URL; `{name}` stands for an integer id. */
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
  /** Set where the request may upload a file of any size in place of the JSON body: the schema of its query. */
  upload?: Schema;
  /** Schemas of successful responses by status; null = no body. */
  responses: { [status: number]: Schema | null };
  /** Schema of a 409 whose body is more than a message. */
  conflict?: Schema;
  /** The interface does not define the response body: another service may send anything, or nothing. */
  isBodyOpen?: true;
  /** Needs no token. Failures are limited by address, as wrong tokens are. */
  isPublic?: true;
  /** Accepts a one-time code in the query in place of the token, so that a browser can follow a link. */
  takesCode?: true;
  /** Required ability of the token; by default `read` for a GET and `*` for all others. */
  ability?: "read" | "*";
  /** Only for tokens without `server_ids`: others could use it to gain access to all servers. */
  reach?: "every server";
};

/** Keeps the literal types of a row. Its body is in `contract/served-operations.ts`. */
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

/** Query and body as a handler gets them: parsed, with defaults. */
export type ParsedQuery<Row extends Operation> = Output<Row["query"]>;
export type ParsedBody<Row extends Operation> = Output<Row["body"]>;
/** The parsed query of an upload. */
export type ParsedUpload<Row extends Operation> = Output<Row["upload"]>;

/** Query and body as a client sends them. */
export type QueryInput<Row extends Operation> = Input<Row["query"]>;
export type BodyInput<Row extends Operation> = Input<Row["body"]>;

/** What a client gets when all went well; undefined for a response without a body, or with an open one that the client cannot read. */
export type ResponseData<Row extends Operation> =
  | { [Status in keyof Row["responses"]]: Output<Row["responses"][Status]> }[keyof Row["responses"]]
  | (Row extends { isBodyOpen: true } ? undefined : never);

/** The path of a row with its ids filled in, e.g. `/api/worker/7/log`. */
export const pathOf = <Row extends Operation>(row: Row, params: PathParams<Row>): string =>
  row.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    // The names come from the path itself, so the lookup cannot miss; the types cannot show that.
    String((params as Record<string, number>)[name]),
  );

export const abilityOf = (row: Operation): "read" | "*" =>
  row.ability ?? (row.method === "GET" ? "read" : "*");
