// The icons, by their names in this dashboard.
import { createElement } from "react";
import {
  Activity,
  Archive,
  ArrowDownToLine,
  Bell,
  Check,
  ChevronDown,
  ChevronRight,
  CircleAlert,
  CircleCheck,
  Copy,
  Globe,
  Info,
  KeyRound,
  LogOut,
  Menu,
  Pause,
  Pencil,
  Pin,
  PinOff,
  Play,
  Plus,
  RotateCw,
  Search,
  Send,
  Server,
  Settings2,
  Square,
  Trash2,
  TriangleAlert,
  Webhook,
  X,
  Zap,
} from "lucide";
const icons = {
  act: Zap,
  activity: Activity,
  bell: Bell,
  key: KeyRound,
  send: Send,
  webhook: Webhook,
  alert: CircleAlert,
  backup: Archive,
  bottom: ArrowDownToLine,
  check: Check,
  close: X,
  copy: Copy,
  down: ChevronDown,
  edit: Pencil,
  info: Info,
  leave: LogOut,
  menu: Menu,
  pause: Pause,
  pin: Pin,
  play: Play,
  plus: Plus,
  restart: RotateCw,
  right: ChevronRight,
  search: Search,
  server: Server,
  settings: Settings2,
  site: Globe,
  stop: Square,
  success: CircleCheck,
  trash: Trash2,
  unpin: PinOff,
  warning: TriangleAlert,
} as const;

export type IconName = keyof typeof icons;

/** Always next to a text or in a control with a name, so it is hidden from screen readers. */
export function Icon({ name }: { name: IconName }) {
  // Mirrored where text runs from right to left.
  const turn = name === "right" ? " rtl:-scale-x-100" : "";
  return (
    <svg
      aria-hidden
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.75}
      strokeLinecap="round"
      strokeLinejoin="round"
      className={`size-4 shrink-0${turn}`}
    >
      {/* The order of the lines never changes. */}
      {icons[name].map(([tag, attributes], place) =>
        createElement(tag, { key: place, ...attributes }),
      )}
    </svg>
  );
}
