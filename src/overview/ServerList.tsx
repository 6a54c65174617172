// All servers, one line each; the details are loaded when a line is opened.
import { Suspense, useState } from "react";
import type { OverviewServer } from "../../contract/overview-parts.ts";
import { healthLook } from "../app/place/health.ts";
import { Link } from "../app/Link.tsx";
import { paths } from "../paths.ts";
import { Icon } from "../ui/Icon.tsx";
import { Input } from "../ui/form/Input.tsx";
import { Panel } from "../ui/page/Panel.tsx";
import { LineDot } from "../ui/feedback/StatusDot.tsx";
import { Time } from "../ui/time/Time.tsx";
import { many } from "./problems.ts";
import { optionalPart } from "../app/routing/optional-part.ts";
import { PartMissing } from "../app/routing/PartMissing.tsx";

/** Number of servers from which the list has a filter. */
const filterFrom = 10;

// Loaded when a line is opened.
const ServerDetails = optionalPart(
  async () => (await import("./ServerDetails.tsx")).ServerDetails,
  PartMissing,
);

function factsOf({ targets, protected: good, problems, running }: OverviewServer): string[] {
  return [
    ...(problems > 0 ? [many(problems, "problem", "problems")] : []),
    ...(targets === 0 ? [] : [`${good} of ${targets} protected`]),
    ...(running > 0 ? [`${running} running`] : []),
  ];
}

function ServerLine({ server, sites }: { server: OverviewServer; sites: OverviewServer["sites"] }) {
  const [isOpened, setOpened] = useState(false);
  const { tone, text } = healthLook(server.health);
  const next = server.next_run_at;
  return (
    <li className="border-b border-line last:border-b-0">
      <details
        className="group"
        onToggle={({ currentTarget }) => setOpened((was) => was || currentTarget.open)}
      >
        <summary className="flex min-h-11 list-none flex-wrap items-center gap-x-3 px-4 py-1.5 text-sm -outline-offset-2 hover:bg-hover max-sm:px-3">
          <LineDot tone={tone} />
          <span
            className="min-w-0 flex-1 truncate font-medium max-sm:basis-[70%]"
            title={server.name}
          >
            {server.name}
          </span>
          <span className="sr-only">{text}</span>
          <span className="ms-auto text-muted max-sm:order-last max-sm:ms-7 max-sm:w-full max-sm:text-xs">
            {factsOf(server).join(" · ")}
          </span>
          <span className="w-36 text-end text-muted max-sm:hidden">
            {next === null ? (
              "No run scheduled"
            ) : (
              <>
                Next run <Time value={next} format="coming" />
              </>
            )}
          </span>
          <span className="text-muted group-open:rotate-180 max-sm:ms-auto">
            <Icon name="down" />
          </span>
        </summary>
        {isOpened && (
          <div className="border-t border-line bg-sunken">
            <Suspense>
              <ServerDetails server={server} />
            </Suspense>
          </div>
        )}
      </details>
      {sites.length > 0 && (
        <ul className="ms-8 grid pb-2">
          {sites.map(({ id, name, health }) => (
            <li key={id} className="flex items-center gap-2 text-sm">
              <LineDot tone={healthLook(health).tone} />
              <Link
                to={paths.workers(id)}
                className="min-w-0 py-1 wrap-anywhere underline decoration-edge underline-offset-4 hover:decoration-current"
              >
                {name}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

export function ServerList({ servers }: { servers: readonly OverviewServer[] }) {
  const [text, setText] = useState("");
  const wanted = text.trim().toLowerCase();
  const isNamed = ({ name }: { name: string }) => name.toLowerCase().includes(wanted);
  const shown = servers
    .map((server) => ({ server, sites: wanted === "" ? [] : server.sites.filter(isNamed) }))
    .filter(({ server, sites }) => isNamed(server) || sites.length > 0);
  const places = servers.reduce((sum, { sites }) => sum + 1 + sites.length, 0);
  return (
    <Panel
      title="Servers"
      actions={
        places >= filterFrom && (
          <div className="w-56 max-sm:w-40">
            <Input
              type="search"
              aria-label="Filter servers and sites"
              placeholder="Filter servers and sites"
              value={text}
              onChange={({ target }) => setText(target.value)}
            />
          </div>
        )
      }
    >
      <ul>
        {shown.map(({ server, sites }) => (
          <ServerLine key={server.id} server={server} sites={sites} />
        ))}
      </ul>
      <output
        className={
          shown.length > 0 ? "sr-only" : "block px-4 py-3 text-sm wrap-anywhere text-muted"
        }
      >
        {wanted === ""
          ? ""
          : shown.length === 0
            ? `No results for “${text.trim()}”`
            : many(shown.length, "server", "servers")}
      </output>
    </Panel>
  );
}
