// What nearly every page is made of comes with the first file: a page that fetched it in pieces of its own would wait
// for a dozen more requests, and small files compress badly.
import "../api/mutate.ts";
import "../api/poll.ts";
import "../ui/Badge.tsx";
import "../ui/hand-focus-on.ts";
import "../ui/Table.tsx";
import "../ui/Time.tsx";
import "./confirm.ts";
import "./ListPage.tsx";
import "./PlaceTabs.tsx";
import "./ServerTabs.tsx";
import "./SiteTabs.tsx";
import "./toasts.ts";
