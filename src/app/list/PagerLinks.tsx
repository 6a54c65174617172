import type { ComponentProps } from "react";
import type { Page } from "../../../contract/paging.ts";
import { Pager } from "../../ui/table/Pager.tsx";
import { LinkButton } from "../LinkButton.tsx";

type StepProps = ComponentProps<typeof LinkButton> & { isEnd: boolean };

/** At either end the link stays, disabled, so that the focus is not lost. */
const Step = ({ isEnd, command, ...rest }: StepProps) => (
  <LinkButton
    {...rest}
    size="sm"
    command={isEnd ? undefined : command}
    aria-disabled={isEnd || undefined}
  />
);

export type PagerLinksProps = {
  meta: Pick<Page<unknown>["meta"], "current_page" | "last_page" | "from" | "to" | "total">;
  pathOf: (page: number) => string;
};

export function PagerLinks({ meta, pathOf }: PagerLinksProps) {
  const { current_page: page, last_page: last, from, to, total } = meta;
  return (
    <Pager
      from={from}
      to={to}
      total={total}
      previous={
        <Step
          rel="prev"
          command={{ label: "Previous page", key: "[" }}
          to={pathOf(Math.max(1, Math.min(page - 1, last)))}
          isEnd={page <= 1}
        >
          Previous
        </Step>
      }
      next={
        <Step
          rel="next"
          command={{ label: "Next page", key: "]" }}
          to={pathOf(Math.min(page + 1, Math.max(page, last)))}
          isEnd={page >= last}
        >
          Next
        </Step>
      }
    />
  );
}
