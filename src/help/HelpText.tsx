// Renders the parts of a help page as elements; any text in it stays text.
import { Link } from "../app/Link.tsx";
import { paths } from "../paths.ts";
import { CopyButton } from "../ui/button/CopyButton.tsx";
import { type Block, type Inline, plainText } from "./blocks.ts";
import { readTarget } from "./pages.ts";

const linkClass =
  "text-accent underline decoration-edge underline-offset-4 hover:decoration-current";

type WithPage = {
  /** Name of the page, for links with only a fragment. */
  page: string;
};

function HelpLink({ to, content, page }: WithPage & { to: string; content: readonly Inline[] }) {
  const target = readTarget(to, page);
  const text = <Inlines content={content} page={page} />;
  switch (target.kind) {
    case "page":
      return (
        <Link to={paths.help(target.name, target.anchor)} className={linkClass}>
          {text}
        </Link>
      );
    case "web":
      return (
        <a href={target.url} target="_blank" rel="noreferrer" className={linkClass}>
          {text}
        </a>
      );
    case "file":
      // It is a file of the repository that the dashboard does not have.
      return <span data-tip={`In the repository: ${to}`}>{text}</span>;
  }
}

function Part({ part, page }: WithPage & { part: Inline }) {
  if (typeof part === "string") return part;
  switch (part.kind) {
    case "code":
      return (
        <code className="rounded-sm border border-line bg-sunken px-1 py-px font-mono text-[0.875em] wrap-anywhere">
          {part.text}
        </code>
      );
    case "link":
      return <HelpLink to={part.to} content={part.content} page={page} />;
    case "strong":
      return (
        <strong className="font-semibold">
          <Inlines content={part.content} page={page} />
        </strong>
      );
    case "emphasis":
      return (
        <em>
          <Inlines content={part.content} page={page} />
        </em>
      );
  }
}

// A page never changes, so the index identifies a part.
const numbered = <Item,>(items: readonly Item[]) => items.map((item, key) => ({ key, item }));

function Inlines({ content, page }: WithPage & { content: readonly Inline[] }) {
  return numbered(content).map(({ key, item }) => <Part key={key} part={item} page={page} />);
}

const headingClass = {
  2: "mt-6 border-b border-line pb-1.5 text-lg font-semibold",
  3: "mt-4 font-semibold",
  4: "mt-2 font-semibold text-muted",
} as const;

function Heading({ level, id, content, page }: WithPage & Extract<Block, { kind: "heading" }>) {
  const Tag = level === 2 ? "h2" : level === 3 ? "h3" : "h4";
  return (
    <Tag
      id={id}
      tabIndex={-1}
      className={`group scroll-mt-6 outline-none first:mt-0 ${headingClass[level === 2 ? 2 : level === 3 ? 3 : 4]}`}
    >
      <Inlines content={content} page={page} />{" "}
      <Link
        to={paths.help(page, id)}
        aria-label={`Link to ${plainText(content)}`}
        className="px-1 text-muted opacity-0 group-hover:opacity-100 focus-visible:opacity-100 pointer-coarse:opacity-100"
      >
        #
      </Link>
    </Tag>
  );
}

const maxLabel = 40;

function Code({ text, language }: { text: string; language: string }) {
  const [first = ""] = text.trim().split("\n");
  const name = first.length > maxLabel ? `${first.slice(0, maxLabel)}…` : first;
  return (
    <div className="relative rounded-md border border-line bg-sunken">
      <section
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, which the keyboard has to reach
        tabIndex={0}
        aria-label={`Code${language && `, ${language}`}`}
        className="overflow-x-auto p-3 pe-12"
      >
        <pre className="font-mono text-xs leading-5">
          <code>{text}</code>
        </pre>
      </section>
      <div className="absolute end-1.5 top-1.5 rounded-md bg-sunken">
        <CopyButton label={`Copy code: ${name}`} text={() => text} />
      </div>
    </div>
  );
}

function Table({ head, rows, page }: WithPage & Extract<Block, { kind: "table" }>) {
  return (
    <section
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- as above
      tabIndex={0}
      aria-label={`Table: ${head.map(plainText).join(", ")}`}
      className="overflow-x-auto rounded-md border border-line"
    >
      <table className={`w-full border-collapse text-sm ${head.length > 2 ? "min-w-120" : ""}`}>
        <thead className="bg-sunken text-muted">
          <tr>
            {numbered(head).map(({ key, item }) => (
              <th key={key} scope="col" className="px-3 py-2 font-medium">
                <Inlines content={item} page={page} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {numbered(rows).map(({ key, item: row }) => (
            <tr key={key} className="border-t border-line align-top">
              {numbered(row).map(({ key: cell, item }) => (
                <td key={cell} className="px-3 py-2">
                  <Inlines content={item} page={page} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function BlockView({ block, page }: WithPage & { block: Block }) {
  switch (block.kind) {
    case "heading":
      return <Heading {...block} page={page} />;
    case "paragraph":
      return (
        <p>
          <Inlines content={block.content} page={page} />
        </p>
      );
    case "code":
      return <Code text={block.text} language={block.language} />;
    case "table":
      return <Table {...block} page={page} />;
    case "list": {
      const Tag = block.isOrdered ? "ol" : "ul";
      return (
        <Tag
          className={`grid grid-cols-[minmax(0,1fr)] gap-1.5 ps-5 marker:text-muted ${block.isOrdered ? "list-decimal" : "list-disc"}`}
        >
          {numbered(block.items).map(({ key, item }) => (
            <li key={key}>
              <HelpText blocks={item} page={page} />
            </li>
          ))}
        </Tag>
      );
    }
  }
}

export function HelpText({ blocks, page }: WithPage & { blocks: readonly Block[] }) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3 leading-6">
      {numbered(blocks).map(({ key, item }) => (
        <BlockView key={key} block={item} page={page} />
      ))}
    </div>
  );
}
