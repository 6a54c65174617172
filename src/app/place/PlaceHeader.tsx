import type { ReactNode } from "react";
import { paths } from "../../paths.ts";
import { PageHeader } from "../../ui/page/PageHeader.tsx";
import { Crumbs } from "./Crumbs.tsx";

/** A server or a site. */
export type Place = { name: string; to: string };

type PlaceHeaderProps = { title: string; place: Place; actions?: ReactNode };

/** Header of a page with everything that a server or site has of one kind. */
export const PlaceHeader = ({ title, place: { name, to }, actions }: PlaceHeaderProps) => (
  <PageHeader
    title={title}
    context={[name]}
    crumbs={
      <Crumbs
        items={[
          { label: "Overview", to: paths.home() },
          { label: name, to },
        ]}
      />
    }
    actions={actions}
  />
);
