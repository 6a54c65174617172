import { useState } from "react";
import { workerLabel } from "../../contract/workers/worker-name.ts";
import { loadAgain } from "../app/asked-part.ts";
import { toast } from "../app/toasts.ts";
import { Button } from "../ui/Button.tsx";
import type { ProblemOrder } from "./problems.ts";

function wordsOf(order: ProblemOrder): { label: string; name: string } {
  switch (order.kind) {
    case "run":
      return { label: `Run backup now: ${order.configuration.name}`, name: "Run backup now" };
    case "start":
      return { label: `Start ${workerLabel(order.worker)}`, name: "Start" };
    case "enable":
      return { label: `Enable webhook to ${order.webhook.host}`, name: "Enable" };
  }
}

// Most visits give no order, so how one is given comes once somebody is about to.
const loadOrders = () => import("./give-order.ts");
const preload = () => void loadOrders().catch(() => undefined);

/** Mends a problem where it is listed. Its line goes or changes once the service says so. */
export function OrderButton({ order }: { order: ProblemOrder }) {
  const [isPending, setPending] = useState(false);
  const words = wordsOf(order);
  const press = async () => {
    setPending(true);
    try {
      const { giveOrder } = await loadOrders();
      await giveOrder(order);
    } catch {
      toast.failure("Couldn't load what the action needs.", loadAgain);
    }
    setPending(false);
  };
  return (
    <Button
      command={words}
      isPending={isPending}
      onPointerEnter={preload}
      onFocus={preload}
      onClick={() => void press()}
    >
      {words.name}
    </Button>
  );
}
