import { Link } from "../app/Link.tsx";
import { paths } from "../paths.ts";
import { StatusDot } from "../ui/feedback/StatusDot.tsx";
import type { Figure } from "./figures.ts";
import type { ProblemKind } from "./problems.ts";

const boxClass =
  "block rounded-lg border border-line bg-raised px-4 py-3 shadow-raised max-sm:px-2.5 max-sm:py-2";

function FigureBox({ figure, isShown }: { figure: Figure; isShown: boolean }) {
  const { label, kind, value, total, tone, detail } = figure;
  const content = (
    <>
      <span className="flex items-center gap-2 text-sm font-medium text-muted">
        {total > 0 && <StatusDot tone={tone} />}
        {label}
      </span>
      <span className="mt-1 block whitespace-nowrap">
        <span className="me-0.5 text-figure font-semibold max-sm:text-xl">
          {total === 0 ? "–" : value}
        </span>{" "}
        {total > 0 && <span className="text-lg text-muted max-sm:text-sm">of {total}</span>}
      </span>
      <span className="mt-0.5 block text-sm text-muted max-sm:text-xs">{detail}</span>
    </>
  );
  // A figure without problems has no list to link to.
  if (total === 0 || value === total) return <p className={boxClass}>{content}</p>;
  return (
    <Link
      to={isShown ? paths.home() : paths.problems(kind)}
      aria-current={isShown ? "true" : undefined}
      className={`${boxClass} hover:border-edge aria-[current]:border-accent aria-[current]:bg-accent-soft`}
    >
      {content}
    </Link>
  );
}

export const Figures = ({
  figures,
  shown,
}: {
  figures: readonly Figure[];
  shown: ProblemKind | null;
}) => (
  <ul className="grid grid-cols-3 gap-3 max-sm:gap-2">
    {figures.map((figure) => (
      <li key={figure.kind} className="grid">
        <FigureBox figure={figure} isShown={shown === figure.kind} />
      </li>
    ))}
  </ul>
);
