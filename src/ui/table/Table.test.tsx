import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { type Column, Table } from "./Table.tsx";

type Fruit = { id: number; name: string; weight: number };

const columns: readonly Column<Fruit>[] = [
  { id: "box", header: (rows) => `All ${rows.length}`, isNarrow: true, cell: ({ id }) => id },
  { id: "name", header: "Name", isRest: true, cell: ({ name }, isOpen) => (isOpen ? "•" : name) },
  {
    id: "weight",
    header: "Weight",
    help: "In grams.",
    align: "end",
    from: "md",
    cell: ({ weight }) => weight,
  },
];
const rows = [
  { id: 4, name: "Apple", weight: 182 },
  { id: 7, name: "Plum", weight: 66 },
];

const markup = renderToStaticMarkup(
  <Table label="Fruit" columns={columns} rows={rows} keyOf={({ id }) => id} openKey={7} />,
);
/** Returns the contents and the attributes of all elements of a tag name, in order. */
const all = (tag: string) =>
  [...markup.matchAll(new RegExp(`<${tag}\\b([^>]*)>(.*?)</${tag}>`, "g"))].map(
    ([, attributes = "", content = ""]) => ({ attributes, content }),
  );

test("renders each column's header and cells from one definition, in order", () => {
  expect(all("th").map(({ content }) => content)).toEqual(["All 2", "Name", "Weight"]);
  expect(all("td").map(({ content }) => content)).toEqual(["4", "Apple", "182", "7", "•", "66"]);
});

test("a header has the alignment, width and visibility of its cells", () => {
  const heads = all("th");
  const cells = all("td");
  for (const [index, classes] of [["w-px", "pe-0"], [], ["text-end", "@max-3xl:hidden"]].entries())
    for (const { attributes } of [heads[index], cells[index], cells[index + 3]].filter(
      (one) => one !== undefined,
    ))
      for (const one of ["w-px", "pe-0", "text-end", "@max-3xl:hidden"])
        expect(attributes.split(/[\s"]/).includes(one)).toBe(classes.includes(one));
});

test("a header's help is also its description, and others have none", () => {
  const described = all("th").map(
    ({ attributes }) => /aria-description="([^"]*)"/.exec(attributes)?.[1],
  );
  expect(described).toEqual([undefined, undefined, "In grams."]);
});
