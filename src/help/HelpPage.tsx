// A page of the documentation in the dashboard, with its table of contents.
import { useEffect } from "react";
import { useLoaderData, useLocation } from "react-router";
import { Crumbs } from "../app/place/Crumbs.tsx";
import { Link } from "../app/Link.tsx";
import { paths } from "../paths.ts";
import { PageHeader } from "../ui/page/PageHeader.tsx";
import { HelpText } from "./HelpText.tsx";
import type { helpLoader } from "./loader.ts";
import { type Block, plainText } from "./blocks.ts";

type Section = Extract<Block, { kind: "heading" }>;

const isSection = (block: Block): block is Section => block.kind === "heading" && block.level <= 3;

function Contents({ page, sections }: { page: string; sections: readonly Section[] }) {
  return (
    <ul className="grid gap-1 border-s border-line text-sm">
      {sections.map(({ id, level, content }) => (
        <li key={id} className={level === 2 ? "ps-3" : "ps-6"}>
          <Link
            to={paths.help(page, id)}
            className="inline-flex min-h-6 items-center text-muted hover:text-ink hover:underline"
          >
            {plainText(content)}
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** Moves to the section in the URL's fragment; the shell moves to the beginning of the page. */
function useAnchor(): void {
  const location = useLocation();
  useEffect(() => {
    const { hash } = location;
    if (hash === "") return;
    // Runs after the shell, which moves the focus to the heading of a new page.
    queueMicrotask(() => {
      const section = document.getElementById(decodeURIComponent(hash.slice(1)));
      section?.focus({ preventScroll: true });
      section?.scrollIntoView();
    });
    // The location is a new object even for a link to the same section.
  }, [location]);
}

export function HelpPage() {
  const { page, title, blocks } = useLoaderData<typeof helpLoader>();
  useAnchor();
  const sections = blocks.filter(isSection);
  const hasContents = sections.length > 1;
  return (
    <>
      <PageHeader
        title={title}
        context={["Help"]}
        crumbs={<Crumbs items={[{ label: "Help", to: paths.help() }]} />}
      />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-x-10 gap-y-5 xl:grid-cols-[minmax(0,46rem)_minmax(0,1fr)]">
        {hasContents && (
          <>
            <details className="rounded-md border border-line px-3 py-2 xl:hidden">
              <summary className="font-medium">On this page</summary>
              <nav aria-label="On this page" className="pt-2">
                <Contents page={page} sections={sections} />
              </nav>
            </details>
            <nav
              aria-label="On this page"
              className="sticky top-6 col-start-2 row-start-1 hidden max-h-[calc(100dvh-3rem)] self-start overflow-y-auto xl:block"
            >
              <p className="pb-2 text-xs font-medium text-muted">On this page</p>
              <Contents page={page} sections={sections} />
            </nav>
          </>
        )}
        <article className="xl:col-start-1 xl:row-start-1">
          <HelpText blocks={blocks} page={page} />
        </article>
      </div>
    </>
  );
}
