// All primitives in all states, light and dark. Available only in development; `e2e/design.e2e.ts` takes screenshots of
// it.
import { PageHeader } from "../ui/page/PageHeader.tsx";
import { TooltipHost } from "../ui/TooltipHost.tsx";
import { Button } from "../ui/button/Button.tsx";
import { Badge } from "../ui/feedback/Badge.tsx";
import { Controls } from "./Controls.tsx";
import { Data } from "./Data.tsx";
import { Layers } from "./Layers.tsx";
import { States } from "./States.tsx";

const schemes = ["light", "dark"] as const;

export function DesignPage() {
  return (
    <main className="grid grid-cols-[minmax(0,1fr)] xl:grid-cols-2">
      {schemes.map((scheme) => (
        <section
          key={scheme}
          aria-label={scheme}
          style={{ colorScheme: scheme }}
          className="grid grid-cols-[minmax(0,1fr)] content-start gap-6 bg-canvas px-8 py-6 text-ink max-sm:px-4"
        >
          <PageHeader
            title={`All in ${scheme}`}
            crumbs="Crumbs"
            state={<Badge tone="good">state</Badge>}
            actions={<Button>Action</Button>}
          />
          <Controls />
          <States />
          <Data />
          <Layers />
        </section>
      ))}
      <TooltipHost hasKeys />
    </main>
  );
}
