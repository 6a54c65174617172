// Imports the parts of nearly every page, so that they are in the first bundle: a page that fetched them separately
// would wait for a dozen more requests, and small files compress badly.
import "../../../contract/workers/worker-name.ts";
import "../../api/mutate.ts";
import "../../api/poll.ts";
import "../../ui/feedback/Badge.tsx";
import "../../ui/focus/hand-focus-on.ts";
import "../../ui/text/IdText.tsx";
import "../../ui/table/Table.tsx";
import "../../ui/time/Time.tsx";
import "../../ui/text/visible-text.ts";
import "../confirm.ts";
import "../AccountNotice.tsx";
import "../list/typed-search.ts";
import "../list/ListPage.tsx";
import "../place/PlaceTabs.tsx";
import "../place/ServerTabs.tsx";
import "../place/SiteTabs.tsx";
import "../StateBadge.tsx";
import "../toasts.ts";
