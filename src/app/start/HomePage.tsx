// The start page, depending on what the service supports: the overview, a list of servers, or a form for an id.
import { useLoaderData } from "react-router";
import { OverviewPage } from "../../overview/OverviewPage.tsx";
import type { homeLoader } from "./home-loader.ts";
import { OpenSite } from "./OpenSite.tsx";

type HomeData = Awaited<ReturnType<typeof homeLoader>>;

export function HomePage() {
  const data = useLoaderData<HomeData>();
  if (data.kind === "overview") return <OverviewPage loaded={data.overview} />;
  return data.kind === "servers" ? <data.ServersPage page={data.page} /> : <OpenSite />;
}
