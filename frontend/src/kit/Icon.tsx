/** Our own small set of line icons: one path each, on a grid of 24. */
const PATHS = {
  pipeline:
    "M5 6h6a3 3 0 0 1 3 3v6a3 3 0 0 0 3 3h2M5 6a2 2 0 1 0-.01 0M19 18a2 2 0 1 0 .01 0M12 12h7M19 12a2 2 0 1 0 .01 0",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14M16.2 16.2 21 21",
  place: "M12 21s-7-6.1-7-11.500a7 7 0 0 1 14 0C19 14.9 12 21 12 21M12 7.200a2.5 2.5 0 1 0 .01 0",
  business:
    "M4 10v10h16V10M3 10l2-6h14l2 6M3 10a3 3 0 0 0 6 0 3 3 0 0 0 6 0 3 3 0 0 0 6 0M10 20v-5h4v5",
  domain:
    "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M3.5 12h17M12 3c3 3 3.5 6 3.5 9s-.5 6-3.5 9c-3-3-3.5-6-3.5-9s.5-6 3.5-9",
  sitemap: "M9 3h6v5H9zM3 16h6v5H3zM15 16h6v5h-6zM12 8v4M6 16v-4h12v4",
  page: "M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6",
  contact: "M12 4a4 4 0 1 0 .01 0M4.5 20a7.5 7.5 0 0 1 15 0",
  rules:
    "M4 6h10M18 6h2M4 12h2M10 12h10M4 18h8M16 18h4M16 4.200v3.600M8 10.200v3.600M14 16.200v3.6",
  batch: "M12 3 3 7.500l9 4.5 9-4.500zM3 12l9 4.5 9-4.500M3 16.5 12 21l9-4.5",
  letter: "M3 6h18v13H3zM3 7l9 6 9-6",
  mail: "M3 5.500h18v13H3zM3.500 6.500 12 13l8.500-6.5",
  phone:
    "M5 4h4l1.500 4.500L8 10.500a12 12 0 0 0 5.500 5.5l2-2.500L20 15v4a1.5 1.5 0 0 1-1.5 1.500A15 15 0 0 1 3.500 5.500 1.5 1.5 0 0 1 5 4",
  home: "M4 11 12 4l8 7M6 9.500V20h12V9.500M10 20v-5.500h4V20",
  map: "M9 4 3.500 6v14L9 18l6 2 5.500-2V4L15 6zM9 4v14M15 6v14",
  list: "M8.500 6H20M8.500 12H20M8.500 18H20M4 6h.1M4 12h.1M4 18h.1",
  chart: "M4 20h16M7 20v-6M12 20V6M17 20v-9",
  calendar: "M4 6h16v14H4zM4 10.500h16M8.500 3.500v4M15.500 3.500v4",
  settings:
    "M12 8.500a3.5 3.5 0 1 0 .01 0M12 3v2.500M12 18.500V21M3 12h2.500M18.5 12H21M5.6 5.600l1.8 1.800M16.6 16.600l1.8 1.800M5.6 18.400l1.8-1.800M16.6 7.400l1.8-1.8",
  pause: "M8 5v14M16 5v14",
  play: "M7 4.500v15l12-7.500z",
  check: "m4.5 12.5 5 5 10-11",
  cross: "M6 6l12 12M18 6 6 18",
  plus: "M12 5v14M5 12h14",
  whole: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  minus: "M5 12h14",
  undo: "M8 5 3.5 9.5 8 14M4 9.500h10a6 6 0 0 1 0 12h-3",
  refresh: "M20 5v5h-5M4 19v-5h5M19.5 10A8 8 0 0 0 5.7 7.200M4.5 14a8 8 0 0 0 13.8 2.8",
  warning: "M12 4 2.5 20h19zM12 10v4.500M12 17.300v.1",
  info: "M12 3a9 9 0 1 0 .01 0M12 11v5.500M12 7.700v.1",
  clock: "M12 3a9 9 0 1 0 .01 0M12 7v5.200l3.5 2",
  down: "m6 9.5 6 6 6-6",
  up: "m6 14.5 6-6 6 6",
  left: "m14.5 6-6 6 6 6",
  right: "m9.5 6 6 6-6 6",
  arrow: "M4 12h16M14 6l6 6-6 6",
  menu: "M4 7h16M4 12h16M4 17h16",
  filter: "M4 5h16l-6 7.500V19l-4-2v-4.500z",
  columns: "M4 5h16v14H4zM10 5v14M15 5v14",
  download: "M12 4v11M7 10.500l5 5 5-5M4 20h16",
  upload: "M12 16V5M7 9.500l5-5 5 5M4 20h16",
  trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5.500M14 11v5.5",
  edit: "M4 20h4L19.5 8.500l-4-4L4 16zM13 7l4 4",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  link: "M10 14a4.2 4.2 0 0 0 6 0l3.5-3.500a4.2 4.2 0 0 0-6-6L12.5 5.500M14 10a4.2 4.2 0 0 0-6 0L4.5 13.500a4.2 4.2 0 0 0 6 6l1-1",
  open: "M14 4h6v6M20 4l-9 9M18 14v6H4V6h6",
  sun: "M12 8a4 4 0 1 0 .01 0M12 2.500V5M12 19v2.500M2.5 12H5M19 12h2.500M5.3 5.3 7 7M17 17l1.7 1.700M5.3 18.7 7 17M17 7l1.7-1.7",
  moon: "M20 14.500A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5",
  screen: "M3 5h18v11H3zM9 20h6M12 16v4",
  keyboard: "M3 6h18v12H3zM7 10h.01M11 10h.01M15 10h.01M17.5 10h.01M7 14h10",
  key: "M8 11a4.5 4.5 0 1 0 .01 0M11.2 12.3 20 3.500M16 7.500l3 3",
  users:
    "M9 5a3.5 3.5 0 1 0 .01 0M2.5 19a6.5 6.5 0 0 1 13 0M16 5.300a3.5 3.5 0 0 1 0 6.400M18 13.200a6.5 6.5 0 0 1 3.5 5.8",
  shield: "M12 3 4.5 6v6c0 4.5 3 7.5 7.5 9 4.5-1.5 7.5-4.5 7.5-9V6z",
  eye: "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12M12 9.200a2.8 2.8 0 1 0 .01 0",
  merge: "M6 4v4c0 4 6 4 6 8v4M18 4v4c0 4-6 4-6 8M9 17l3 3 3-3",
  tag: "M4 4h8l8 8-8 8-8-8zM8.5 8.500h.01",
  star: "m12 4 2.5 5.2 5.5.8-4 4 1 5.6-5-2.7-5 2.7 1-5.6-4-4 5.5-.8z",
  town: "M3 20h18M5 20V10l4-3 4 3v10M13 20v-7h6v7M8 13h2M8 16h2M16 16h.01",
  bolt: "M13 3 5 13.500h6L10.5 21 19 10.500h-6z",
  archive: "M3.5 5h17v4h-17zM5 9v10.500h14V9M10 13h4",
  logout: "M14 4h6v16h-6M4 12h11M11 8l4 4-4 4",
  more: "M5.500 12a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0M11.500 12a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0M17.500 12a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0",
} as const;

export type IconName = keyof typeof PATHS;

/** The icon that the server names; one that this page does not have is a sheet of paper. */
export const iconNamed = (name: string): IconName => (name in PATHS ? (name as IconName) : "page");

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      className="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={size < 18 ? 2 : 1.75}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
