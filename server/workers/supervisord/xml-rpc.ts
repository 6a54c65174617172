// Encodes and decodes XML-RPC, as far as supervisord uses it: see http://xmlrpc.com/spec.md.
import { XMLParser } from "fast-xml-parser";

export type RpcValue = string | number | boolean | null | RpcValue[] | { [name: string]: RpcValue };

/** A fault that supervisord returned; its codes are in `supervisor.xmlrpc.Faults`. */
export class RpcFault extends Error {
  override name = "RpcFault";
  readonly code: number;

  constructor(code: number, text: string) {
    super(text);
    this.code = code;
  }
}

const escape = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** Types of the arguments of supervisord's methods. */
export type RpcArgument = string | number | boolean;

function encode(value: RpcArgument): string {
  if (typeof value === "boolean") return `<boolean>${value ? 1 : 0}</boolean>`;
  return typeof value === "number" ? `<int>${value}</int>` : `<string>${escape(value)}</string>`;
}

export const encodeCall = (method: string, args: readonly RpcArgument[]): string =>
  `<?xml version="1.0"?><methodCall><methodName>${escape(method)}</methodName><params>${args
    .map((value) => `<param><value>${encode(value)}</value></param>`)
    .join("")}</params></methodCall>`;

// Preserves the order, so that an empty list, a list of one and a text can be distinguished.
const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: true,
  ignoreDeclaration: true,
  parseTagValue: false,
  trimValues: false,
  // The path of an element is not needed, and takes a third of the time.
  jPath: false,
});

type Nodes = Record<string, unknown>[];

const isNodes = (value: unknown): value is Nodes => Array.isArray(value);

/** Returns the elements in `nodes`, without the white space between them. */
const elements = (nodes: Nodes) =>
  nodes.flatMap((node) => {
    const [name] = Object.keys(node);
    const inner = name === undefined ? undefined : node[name];
    return name === undefined || name === "#text" || !isNodes(inner) ? [] : [{ name, inner }];
  });

const inside = (nodes: Nodes, ...path: readonly string[]): Nodes =>
  path.reduce<Nodes>(
    (at, wanted) => elements(at).find(({ name }) => name === wanted)?.inner ?? [],
    nodes,
  );

const textOf = (nodes: Nodes): string =>
  nodes.map((node) => (typeof node["#text"] === "string" ? node["#text"] : "")).join("");

function decode(value: Nodes): RpcValue {
  const [element] = elements(value);
  if (element === undefined) return textOf(value);
  const { name, inner } = element;
  switch (name) {
    case "string":
      return textOf(inner);
    case "int":
    case "i4":
    case "double":
      return Number(textOf(inner));
    case "boolean":
      return textOf(inner).trim() === "1";
    case "nil":
      return null;
    case "array":
      return elements(inside(inner, "data")).map((item) => decode(item.inner));
    case "struct":
      return Object.fromEntries(
        elements(inner).map((member) => [
          textOf(inside(member.inner, "name")),
          decode(inside(member.inner, "value")),
        ]),
      );
    default:
      throw new Error(`supervisord answered a value of the unknown type ${name}.`);
  }
}

/** @throws RpcFault where the response is a fault, or Error where it is not XML-RPC */
export function decodeAnswer(xml: string): RpcValue {
  // The parser's result is typed as `any`; `isNodes` checks it.
  const document: unknown = parser.parse(xml);
  const answer = inside(isNodes(document) ? document : [], "methodResponse");
  const fault = inside(answer, "fault", "value");
  if (fault.length > 0) {
    const told = decode(fault);
    const { faultCode, faultString } =
      typeof told === "object" && told !== null && !Array.isArray(told) ? told : {};
    throw new RpcFault(Number(faultCode), typeof faultString === "string" ? faultString : "");
  }
  const value = inside(answer, "params", "param", "value");
  if (value.length === 0)
    throw new Error("supervisord answered with something that is not XML-RPC.");
  return decode(value);
}
