import { expect, test } from "vitest";
import { columnsIn, domainsIn, tellLoss, withoutDomain } from "./column-types.ts";

const kept = { name: "n", isGenerated: false };

test.each([
  ["numeric(10,4)", "numeric(10,2)"],
  ["numeric", "numeric(10,2)"],
  ["double precision", "numeric(10,2)"],
  ["double precision", "real"],
  ["bigint", "double precision"],
  ["numeric(4,1)", "double precision"],
  ["timestamp with time zone", "timestamp without time zone"],
  ["timestamp without time zone", "date"],
  ["timestamp without time zone", "timestamp(0) without time zone"],
  ["time(3) without time zone", "time(0) without time zone"],
  ["date", "timestamp with time zone"],
  ["text", "name"],
  ["numeric(10,4)[]", "numeric(10,2)[]"],
  ["numeric(12,4)", "money"],
  ["text", "numeric(10,2)"],
  ["text", "double precision"],
  ["text", "date"],
  ["character varying(40)", "timestamp(0) without time zone"],
  // Spaces at its end are cut.
  ["text", "character varying(3)"],
  ["character varying(5)", "character(5)"],
  ["interval", "interval year to month"],
  ["app.place", "app.place(2)"],
  ["app.mood", "app.pair"],
])("a column of type %s silently loses data as %s", (was, is) => {
  expect(tellLoss({ ...kept, type: was }, { ...kept, type: is })).toContain(
    `was ${was} in the backup and is ${is} now`,
  );
});

test.each([
  ["integer", "bigint"],
  // The server refuses these row by row.
  ["numeric(10,4)", "integer"],
  ["bigint", "smallint"],
  ["text", "integer"],
  ["integer", "numeric(10,2)"],
  ["integer", "double precision"],
  ["real", "double precision"],
  ["numeric(10,2)", "numeric(12,4)"],
  ["numeric(10,2)", "numeric"],
  ["numeric(10,2)", "text"],
  ["character varying(10)", "text"],
  ["date", "timestamp without time zone"],
  ["timestamp(0) with time zone", "timestamp with time zone"],
  ["json", "jsonb"],
  ["app.mood", "app.mood"],
  ["app.place(2)", "app.place"],
  ["app.mood", "character varying"],
  ["bytea", "text"],
  ["text", "numeric"],
  ["character varying(36)", "uuid"],
  ["text", "jsonb"],
  ["text", "public.citext"],
  ["character varying(3)", "character varying(5)"],
  ["character(3)", "character(5)"],
  ["integer", "character varying(3)"],
  ["interval day to second(3)", "interval"],
  ["bit(3)", "bit varying(5)"],
  ["text[]", "integer[]"],
])("a column of type %s never silently loses data as %s", (was, is) => {
  expect(tellLoss({ ...kept, type: was }, { ...kept, type: is })).toBeNull();
});

test("an enum takes a label or refuses it", () => {
  const is = { ...kept, type: "app.mood[]", isEnum: true };
  expect(tellLoss({ ...kept, type: "text[]" }, is)).toBeNull();
});

test("replaces domains by their types", () => {
  const domains = domainsIn(`
CREATE DOMAIN app.price AS numeric(10,2) NOT NULL DEFAULT 0
\tCONSTRAINT positive CHECK ((VALUE > (0)::numeric));

CREATE DOMAIN app."list of prices" AS app.price[];

CREATE DOMAIN app.odd AS app.odd;
`);
  expect(
    ["app.price", 'app."list of prices"[]', "app.odd", "text"].map((type) =>
      withoutDomain(type, domains),
    ),
  ).toEqual(["numeric(10,2)", "numeric(10,2)[][]", "app.odd", "text"]);
});

test("a generated column has no values in a dump", () => {
  const was = { ...kept, type: "integer", isGenerated: true };
  expect(tellLoss(was, { ...was, isGenerated: false })).toContain("was generated in the backup");
  expect(tellLoss(was, was)).toBeNull();
});

test("parses the columns in the output of pg_restore, whatever their defaults contain", () => {
  const sql = String.raw`SET row_security = off;

--
-- Name: odd; Type: TABLE; Schema: app; Owner: -
--

CREATE UNLOGGED TABLE app."odd (""x"")" (
    id integer DEFAULT nextval('app.s'::regclass) NOT NULL,
    "Price, net" numeric(10,2) DEFAULT (1 + (2)),
    note character varying(20) COLLATE "C" DEFAULT 'a,
    fake integer, '''::character varying,
    path text DEFAULT E'\',\n'::text,
    at timestamp(3) with time zone[],
    doubled integer GENERATED ALWAYS AS ((id * 2)) STORED,
    number bigint,
    CONSTRAINT positive CHECK (((id > 0) AND (note <> ','::text)))
)
WITH (fillfactor='50');

ALTER TABLE app."odd (""x"")" ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME app.number_seq
);
`;
  expect(
    columnsIn(sql).map(({ name, type, isGenerated }) => [
      name,
      type,
      ...(isGenerated ? [true] : []),
    ]),
  ).toEqual([
    ["id", "integer"],
    ["Price, net", "numeric(10,2)"],
    ["note", "character varying(20)"],
    ["path", "text"],
    ["at", "timestamp(3) with time zone[]"],
    ["doubled", "integer", true],
    ["number", "bigint"],
  ]);
  expect(columnsIn("CREATE TABLE app.typed OF app.kind;\n")).toEqual([]);
  expect(
    columnsIn(
      "CREATE TYPE app.kind AS (\n\tid integer,\n\tn text\n);\nCREATE TABLE app.typed OF app.kind;\n",
    ),
  ).toMatchObject([{ type: "integer" }, { name: "n", type: "text" }]);
  expect(columnsIn("CREATE TABLE app.nothing (\n);\n")).toEqual([]);
});
