import type { Page } from "../../contract/paging.ts";
import { Pager } from "../ui/Pager.tsx";
import { LinkButton } from "./LinkButton.tsx";

type StepProps = { rel: "prev" | "next"; to: string; isEnd: boolean; children: string };

/** At an end it stays, leading nowhere, so that whoever pressed it keeps the focus. */
function Step({ isEnd, rel, ...rest }: StepProps) {
  const [keys, tip] = rel === "prev" ? ["[", "Previous page"] : ["]", "Next page"];
  return (
    <LinkButton
      size="sm"
      rel={rel}
      keys={keys}
      data-tip={tip}
      aria-disabled={isEnd || undefined}
      {...rest}
    />
  );
}

type PageLinksProps = {
  meta: Page<unknown>["meta"];
  pathOf: (page: number) => string;
};

/** The pager of a list whose page stands in the address. There is none for what fits on one page. */
export function PageLinks({ meta, pathOf }: PageLinksProps) {
  const { current_page: page, last_page: last, from, to, total } = meta;
  if (last <= 1 && page <= 1) return null;
  return (
    <Pager
      from={from}
      to={to}
      total={total}
      previous={
        <Step rel="prev" to={pathOf(Math.max(1, Math.min(page - 1, last)))} isEnd={page <= 1}>
          Previous
        </Step>
      }
      next={
        <Step rel="next" to={pathOf(Math.min(page + 1, Math.max(page, last)))} isEnd={page >= last}>
          Next
        </Step>
      }
    />
  );
}
