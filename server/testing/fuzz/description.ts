// Reads the OpenAPI description like a client: the operations, and the schema of each response.
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

/** The subset of JSON Schema that the description uses for requests. */
export type Schema = {
  type?: string;
  enum?: string[];
  anyOf?: Schema[];
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  maxLength?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  $ref?: string;
};

type Content = Record<string, { schema: Schema }>;

type Row = {
  operationId: string;
  parameters: { name: string; in: "path" | "query" | "header"; schema: Schema }[];
  requestBody?: { content: Content };
  responses: Record<string, { headers?: object; content?: Content }>;
};

export type Description = {
  paths: Record<string, Record<string, Row>>;
  components: { schemas: Record<string, Schema> };
};

export type Described = {
  name: string;
  method: string;
  path: string;
  query: string[];
  /** Schema of the body; null = the operation takes none. */
  body: Schema | null;
};

export function describedOperations(description: Description): Described[] {
  return Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, row]) => {
      const body = row.requestBody?.content["application/json"]?.schema;
      return {
        name: row.operationId,
        method: method.toUpperCase(),
        path,
        query: row.parameters.filter((one) => one.in === "query").map(({ name }) => name),
        body: body === undefined ? null : resolve(description, body),
      };
    }),
  );
}

const resolve = (description: Description, schema: Schema): Schema =>
  schema.$ref === undefined
    ? schema
    : (description.components.schemas[schema.$ref.replace(/^.*\//, "")] ?? {});

export type Answered = { status: number; type: string | null; body: string };

/** Checks responses against the description alone, not against the code that generated it. */
export function createJudge(description: Description) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addSchema(description, "description");
  const validators = new Map<string, ValidateFunction>();
  const validatorAt = (pointer: string): ValidateFunction => {
    const known = validators.get(pointer);
    if (known !== undefined) return known;
    const made = ajv.compile({ $ref: `description#${pointer}` });
    validators.set(pointer, made);
    return made;
  };
  const rows = Object.entries(description.paths).map(([path, methods]) => ({
    path,
    methods,
    pattern: new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`),
  }));

  function problemOfBody(answered: Answered, pointer: string): string | null {
    if (!/^application\/json\b/.test(answered.type ?? "")) return `has the type ${answered.type}`;
    let value: unknown;
    try {
      value = JSON.parse(answered.body);
    } catch {
      return "is no JSON";
    }
    const validate = validatorAt(pointer);
    return validate(value) ? null : `breaks its schema: ${ajv.errorsText(validate.errors)}`;
  }

  return {
    /** Returns what is wrong with a response, as the end of a sentence; null = nothing. */
    problemOf(method: string, path: string, answered: Answered): string | null {
      const asked = method === "HEAD" ? "get" : method.toLowerCase();
      // Two paths may differ only in the name of an id.
      const row = rows.find(({ pattern, methods }) => pattern.test(path) && asked in methods);
      const described = row?.methods[asked];
      // Not an operation of the description: any error, with the schema of errors.
      if (row === undefined || described === undefined)
        return method === "HEAD" || answered.status === 204 || answered.status < 400
          ? null
          : problemOfBody(
              answered,
              `/components/schemas/${answered.status === 401 ? "Unauthenticated" : "Error"}`,
            );
      const response = described.responses[String(answered.status)];
      if (response === undefined) return "has a status that the description does not know";
      const isEmpty = answered.body === "";
      if (response.content === undefined || method === "HEAD")
        return isEmpty ? null : "has a body where none belongs";
      const json = response.content["application/json"];
      if (json === undefined) return null;
      // All errors share a schema, and so a validator.
      if (json.schema.$ref !== undefined) return problemOfBody(answered, json.schema.$ref.slice(1));
      const escaped = row.path.replaceAll("/", "~1").replaceAll("{", "%7B").replaceAll("}", "%7D");
      return problemOfBody(
        answered,
        `/paths/${escaped}/${asked}/responses/${answered.status}/content/application~1json/schema`,
      );
    },
  };
}
