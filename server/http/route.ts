// Joins a row of the operation table with its handler.
import type { Readable } from "node:stream";
import type { z } from "zod/mini";
import type { FieldErrors } from "../../contract/errors.ts";
import type {
  file,
  Operation,
  ParsedBody,
  ParsedUpload,
  ParsedQuery,
  PathParams,
} from "../../contract/operation.ts";
import {
  type filteredListOf,
  type listOf,
  type ListFilter,
  readPage,
  statusParameter,
  toPage,
} from "../../contract/paging.ts";
import type { ListRequest } from "../store/filtered-rows.ts";
import type { FileResponse } from "./file-response.ts";
import { type Filters, readFilter } from "./list-filters.ts";

/** The checked token of a request. */
export type Caller = {
  tokenId: number;
  name: string;
  /** True with ability `*`; a token without it may only read. */
  canChange: boolean;
  /** The servers that the token may see; null = all. */
  serverIds: readonly number[] | null;
  /** Whether the token may see what is on this server. */
  reaches(serverId: number): boolean;
};

/** A file as the body of a request, in place of JSON. */
export type Upload<Fields> = {
  fields: Fields;
  /** Fails if the client disconnects. */
  content: Readable;
  /** Size that the client announced; null = none. */
  sizeBytes: number | null;
};

/** Input of a handler, completely validated. */
type Incoming<Row extends Operation, Found> = {
  params: PathParams<Row>;
  query: ParsedQuery<Row>;
  /** Undefined if there is an upload. */
  body: ParsedBody<Row>;
  /** Null where the body is JSON or empty. */
  upload: Upload<ParsedUpload<Row>> | null;
  /** The result of `find`. */
  found: Found;
  caller: Caller;
  /** Absolute URL of the request, without its query. */
  url: string;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
};

type Body<Schema> = Schema extends typeof file
  ? FileResponse
  : Schema extends z.ZodMiniType
    ? z.input<Schema>
    : undefined;

/** A response: one of the statuses of its row, with the body that belongs to it. */
type Reply<Row extends Operation> = {
  [Status in keyof Row["responses"] & number]: {
    status: Status;
    body: Body<Row["responses"][Status]>;
    /** Path of the created resource, for the `Location` header. */
    location: string | undefined;
  };
}[keyof Row["responses"] & number];

/** Builds a response; a function, because it keeps the status a literal. */
export const reply = <Status extends number, Content = undefined>(
  status: Status,
  ...[body, location]: Content extends undefined ? [] : [body: Content, location?: string]
): { status: Status; body: Content; location: string | undefined } => ({
  status,
  // Without a body, the type `Content` is `undefined`, and so is the value.
  body: body as Content,
  location,
});

/** Input of a check: the fields of the body that are valid on their own, even if others are not. */
type Checked<Row extends Operation, Found> = Pick<
  Incoming<Row, Found>,
  "params" | "found" | "caller"
> & { fields: Partial<ParsedBody<Row>>; isUpload: boolean };

type Handler<Row extends Operation, Found> = {
  /**
   * Finds the object of the path, if the caller may see it; null = 404. Runs before the checks of the caller's ability and of the
   * body.
   */
  find(params: PathParams<Row>, caller: Caller): Promise<Found | null>;
  /**
   * Checks what the body's schema cannot, for example whether a folder exists. Its errors are sent together with those of the
   * schema.
   */
  check?(incoming: Checked<Row, Found>): Promise<FieldErrors>;
  handle(incoming: Incoming<Row, Found>): Promise<Reply<Row>>;
  /** Returns the server whose instance must respond, because the database lacks some of the data; absent = any instance can. */
  runsOn?(found: Found): number | Promise<number>;
  /** Whether any instance may respond, from the database, while no instance looks after that server. */
  isKnownWithout?: boolean;
};

/** A route without its specific types, as the router stores it. */
export type Route = {
  operation: Operation;
  find(params: Record<string, number>, caller: Caller): Promise<unknown>;
  check(incoming: {
    params: Record<string, number>;
    fields: object;
    isUpload: boolean;
    found: unknown;
    caller: Caller;
  }): Promise<FieldErrors>;
  runsOn?(found: unknown): number | Promise<number>;
  isKnownWithout?: boolean;
  handle(incoming: {
    params: Record<string, number>;
    query: unknown;
    body: unknown;
    upload: Upload<unknown> | null;
    found: unknown;
    caller: Caller;
    url: string;
    signal: AbortSignal;
  }): Promise<{ status: number; location: string | undefined; body: unknown }>;
};

export function route<Row extends Operation, Found>(
  operation: Row,
  handler: Handler<Row, Found>,
): Route {
  // `Route` drops the types of the row. That is safe, because the router parses each request by this same row.
  return { operation, check: async () => ({}), ...handler };
}

type ListOperation = Operation & ReturnType<typeof listOf>;
type ItemOf<Row extends ListOperation> = z.input<Row["responses"][200]>["data"][number];

type FilteredListOperation = Operation & ReturnType<typeof filteredListOf>;

const everything = { words: [], statuses: [], sort: null };

type FilteredListHandler<Row extends FilteredListOperation, Found> = Pick<
  Handler<Row, Found>,
  "find" | "runsOn" | "isKnownWithout"
> & {
  filters: Filters;
  /** Query parameters in addition to those of every list. The links to other pages keep them; if one is given, `counts` are sent. */
  more?: readonly (keyof ParsedQuery<Row> & string)[];
  /** @returns the items of the page, their number on all pages, and for filtered requests the numbers by status */
  list(
    request: ListRequest,
    incoming: Incoming<Row, Found>,
  ): Promise<{ items: ItemOf<Row>[]; total: number; counts?: Record<string, number> | undefined }>;
};

/** Creates the route of a list that can be filtered, searched and sorted. */
export const filteredListRoute = <Row extends FilteredListOperation, Found>(
  operation: Row,
  { filters, more = [], list, ...handler }: FilteredListHandler<Row, Found>,
): Route => ({
  operation,
  ...handler,
  check: async () => ({}),
  async handle(incoming: Incoming<Row, Found>) {
    const page = readPage(incoming.query);
    const given = Object.entries(incoming.query).filter(
      ([name, value]) => value !== "" && more.some((one) => one === name),
    );
    const wanted = readFilter(incoming.query, filters) ?? (given.length > 0 ? everything : null);
    const { items, total, counts } = await list({ ...page, wanted }, incoming);
    const { [statusParameter]: status, search, sort }: ListFilter = incoming.query;
    const filter = { [statusParameter]: status, search, sort, ...Object.fromEntries(given) };
    const filtered = counts && { counts, sorts: [...filters.sorts] };
    return reply(200, toPage(items, total, page, incoming.url, filter, filtered));
  },
});

/** `find` of operations whose path has no id. */
export const nothingToFind = async () => true;
