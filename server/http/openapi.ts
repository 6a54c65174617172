// Describes the interface as OpenAPI 3.1, from the same rows that are served.
import * as z from "zod/mini";
import { errorBody, fieldErrorsBody, unauthenticatedBody } from "../../contract/errors.ts";
import { abilityOf, file, type Operation } from "../../contract/operation.ts";
import { statusParameter } from "../../contract/paging.ts";
import { describeEvents } from "./describe-events.ts";
import { type Filters, filtersOf } from "./list-filters.ts";
import { hoist, type Json, type Schema } from "./schema-components.ts";
import { summaryOf } from "./summaries.ts";

/**
 * Describes the operations, and the requests that webhooks get, as OpenAPI 3.1.
 * @param entries operation ids with their rows
 * @see https://spec.openapis.org/oas/v3.1.0
 */
export function describeOperations(
  entries: readonly (readonly [string, Operation])[],
  info: { version: string; url: string },
): Json {
  const components: Json = {};
  const paths: Record<string, Json> = {};
  for (const [operationId, row] of entries) {
    const summary = summaryOf.get(operationId) ?? operationId;
    (paths[row.path] ??= {})[row.method.toLowerCase()] = {
      operationId,
      summary,
      tags: [row.tag],
      ...(row.isPublic && { security: [] }),
      ...(row.takesCode && { security: [{ token: [] }, { code: [] }] }),
      parameters: [
        ...pathParameters(row.path),
        ...queryParameters(row.query, filtersOf.get(operationId)),
        ...queryParameters(row.upload, undefined),
        ...(isDownload(row) ? rangeParameters : []),
      ],
      ...(row.body && {
        requestBody: {
          required: !row.body.safeParse({}).success,
          content: {
            ...asJson(row.body, "input", components),
            ...(row.upload && asFile),
          },
        },
      }),
      responses: responses(row, summary, components),
    };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Quarterdeck",
      version: info.version,
      description: "Server operations: backups, queue workers, site webhooks, site notifications.",
    },
    servers: [{ url: info.url }],
    security: [{ token: [] }],
    paths,
    webhooks: describeEvents(components),
    components: {
      schemas: components,
      securitySchemes: {
        token: { type: "http", scheme: "bearer" },
        code: { type: "apiKey", in: "query", name: "code" },
      },
    },
  };
}

const pathParameters = (path: string) =>
  Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "integer", minimum: 1 },
  }));

function queryParameters(query: Schema | undefined, filters: Filters | undefined): Json[] {
  if (query === undefined) return [];
  const { properties = {} } = z.toJSONSchema(query, { io: "input" });
  return Object.entries(properties).flatMap(([name, schema]) =>
    filters === undefined || name !== statusParameter
      ? [{ name, in: "query", schema, ...describeFilter(name, filters) }]
      : statusParameters(Object.keys(filters.statuses)),
  );
}

/** Returns the parameter of a status filter, which takes statuses separated by commas; none for a list without statuses. */
const statusParameters = (statuses: string[]): Json[] =>
  statuses.length === 0
    ? []
    : [
        {
          name: statusParameter,
          in: "query",
          description: "Only rows with one of these statuses",
          style: "form",
          explode: false,
          schema: { type: "array", items: { type: "string", enum: statuses } },
        },
      ];

function describeFilter(name: string, filters: Filters | undefined): Json {
  if (name === "search") return { description: "Only rows that hold each of these words" };
  if (name !== "sort" || filters === undefined) return {};
  const both = filters.sorts.flatMap((sort) => [sort, `-${sort}`]);
  return {
    description: "The order; “-” = descending. Without it, the list's own order",
    schema: { type: "string", enum: both },
  };
}

const isDownload = (row: Operation): boolean => Object.values(row.responses).includes(file);

/** Headers by which a client asks for the rest of a file, or for a certain one only. */
const rangeParameters: Json[] = [
  {
    name: "Range",
    in: "header",
    description: "Only a range that reaches the end of the file is served; any other is ignored",
    schema: { type: "string", examples: ["bytes=1000000-"] },
  },
  {
    name: "If-Range",
    in: "header",
    description:
      "The `ETag` of the response that is continued; with any other, the whole file is sent. It continues the download of a one-time link, too; so does `If-Match`",
    schema: { type: "string" },
  },
  {
    name: "If-Match",
    in: "header",
    description: "`ETag`s of which the file must have one; otherwise nothing is sent",
    schema: { type: "string" },
  },
  {
    name: "If-None-Match",
    in: "header",
    description: "`ETag`s of files that the client has; nothing is sent if it is one of them",
    schema: { type: "string" },
  },
];

const header = (description: string): Json => ({ description, schema: { type: "string" } });

const fileHeaders = {
  "Accept-Ranges": header("`bytes`"),
  "Content-Disposition": header("`attachment`, with the name of the file"),
  ETag: header("Identifies the content; absent where its checksum is unknown"),
};

const contentRange = (form: string) => ({
  "Content-Range": { ...header(form), required: true },
});

/** Describes the further responses of a download (`server/http/file-response.ts`). */
const rangeResponses = (components: Json): Json => ({
  206: {
    description: "The rest of the file, from the byte in `Range` on",
    headers: { ...fileHeaders, ...contentRange("`bytes <first>-<last>/<size>`") },
    content: asFile,
  },
  304: {
    description: "The file is one that `If-None-Match` names",
    headers: { ETag: fileHeaders.ETag },
  },
  412: {
    description: "The file is not the one that `If-Match` names",
    content: asJson(errorBody, "output", components),
  },
  416: {
    description: "The range begins after the end of the file",
    headers: contentRange("`bytes */<size>`"),
    content: asJson(errorBody, "output", components),
  },
});

const errorTexts: readonly [number, string, Schema][] = [
  [400, "The request is not valid HTTP, or its body is not a JSON object", errorBody],
  [401, "Missing, unknown or expired token", unauthenticatedBody],
  [421, "Unknown host in the request", errorBody],
  [429, "Too many requests; see Retry-After", errorBody],
  [500, "A mistake of the service", errorBody],
  [503, "Shutting down, or the database is unavailable", errorBody],
];

function responses(row: Operation, summary: string, components: Json): Json {
  const described: Json = {};
  for (const [status, schema] of Object.entries(row.responses))
    described[status] = {
      description: summary,
      ...(schema && {
        content: schema === file ? asFile : asJson(schema, "output", components),
      }),
      ...(schema === file && { headers: fileHeaders }),
    };
  const isFile = isDownload(row);
  if (isFile) Object.assign(described, rangeResponses(components));
  const errors = errorTexts.filter(([status]) => status !== 401 || row.isPublic !== true);
  if (row.path.includes("{"))
    errors.push([404, "Not found, or not visible to this token", errorBody]);
  if (abilityOf(row) === "*" && row.isPublic !== true)
    errors.push([403, "The token may only read", errorBody]);
  if (row.body) {
    errors.push([
      413,
      row.upload
        ? "The JSON body is larger than 1 MiB, or the file than what is free in its storage"
        : "The body is larger than 1 MiB",
      errorBody,
    ]);
    errors.push([415, "The body is not JSON, or compressed", errorBody]);
  }
  if (row.body ?? row.query) errors.push([422, "Invalid fields", fieldErrorsBody]);
  // A download is refused until the backup has finished.
  if (row.conflict || ((row.method !== "GET" || isFile) && row.path.includes("{")))
    errors.push([409, "Not possible in the current state", row.conflict ?? errorBody]);
  if (row.method === "GET" && !isFile)
    described[304] = { description: "Not modified since the version in `If-None-Match`" };
  for (const [status, description, schema] of errors)
    described[status] = { description, content: asJson(schema, "output", components) };
  return described;
}

const asFile = {
  "application/octet-stream": { schema: { type: "string", format: "binary" } },
};

const asJson = (schema: Schema, io: "input" | "output", components: Json) => ({
  "application/json": { schema: hoist(schema, io, components) },
});
