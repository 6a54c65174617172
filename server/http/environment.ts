// What a request brings along: the socket it came through, and its id.
import type { HttpBindings } from "@hono/node-server";
import type { RequestIdVariables } from "hono/request-id";

export type ApiEnvironment = { Bindings: Partial<HttpBindings>; Variables: RequestIdVariables };
