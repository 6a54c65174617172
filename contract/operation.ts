// What one row of the operation table says, and the types that follow from it.
import * as z from "zod/mini";

type Method = "GET" | "POST" | "PUT" | "DELETE";
type Schema = z.ZodMiniType;

/** The response of an operation that sends a file as it is, not JSON. */
export const file = z.custom<ReadableStream<Uint8Array>>();

export type Operation = {
  method: Method;
  /** Below the base address; `{name}` stands for an integer id. */
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
  /** In place of the JSON body the request may have a file as it is, of any length; this is what stands in its query then. */
  upload?: Schema;
  /** The successful responses by status; null = no body. */
  responses: { [status: number]: Schema | null };
  /** What a 409 says, where that is more than a message. */
  conflict?: Schema;
  /** The interface leaves the response body open: another service may send anything here, or nothing. */
  isBodyOpen?: true;
  /** Nobody has a token yet who asks for this. Failures are limited by address, as wrong tokens are. */
  isPublic?: true;
  /** A one-time code in the query stands in for the token, so that a browser can follow a link. */
  takesCode?: true;
  /** What a token must be able to do. Without it: reading for a GET, everything for the rest. */
  ability?: "read" | "*";
  /** Only for a token that reaches every server: one of a few could make itself one of all. */
  reach?: "every server";
};

/** Keeps the literal types of a row. Its body stands in `contract/served-operations.ts`. */
export const operation = <const Row extends Operation & { body?: never; upload?: never }>(
  row: Row,
): Row => row;

type Names<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never;

/** The ids that the path of a row takes. */
export type PathParams<Row extends Operation> = { [Name in Names<Row["path"]>]: number };

type Output<Part> = Part extends Schema ? z.output<Part> : undefined;
type Input<Part> = Part extends Schema ? z.input<Part> : undefined;

/** What a handler sees of the query and the body: parsed, with defaults in place. */
export type ParsedQuery<Row extends Operation> = Output<Row["query"]>;
export type ParsedBody<Row extends Operation> = Output<Row["body"]>;
/** What goes with a file that is sent as it is. */
export type ParsedUpload<Row extends Operation> = Output<Row["upload"]>;

/** What a client sends. */
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
