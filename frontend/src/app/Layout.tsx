/** What stands around every screen: navigation, connection, theme, who is here. */
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useConnection } from "@/api/events";
import { useViews, viewScreen } from "@/api/views";
import { Dialog, Icon, IconButton, Menu, type MenuItem, toastError } from "@/kit";
import { ChangePassword } from "./ChangePassword";
import { KeyMap } from "./KeyMap";
import { useKeys } from "./keys";
import { Palette } from "./Palette";
import { go, Link, usePath, useSearch } from "./router";
import { type Group, navigation, type Place, SETTINGS } from "./routes";
import { logout, type Session } from "./session";
import { chooseTheme, type Theme, useTheme } from "./theme";

export function Layout({ session, children }: { session: Session; children: ReactNode }) {
  const [isNavOpen, setNavOpen] = useState(false);
  const [isMapOpen, setMapOpen] = useState(false);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const path = usePath();
  const main = useRef<HTMLElement>(null);
  const before = useRef(path);
  useEffect(() => {
    if (before.current === path) return;
    before.current = path;
    setNavOpen(false);
    // Another screen is a new beginning for who listens to the page instead of looking.
    main.current?.focus({ preventScroll: true });
  }, [path]);
  useKeys("Everywhere", [
    { keys: "?", does: "Show keyboard shortcuts", run: () => setMapOpen(true) },
    {
      keys: "Mod+k",
      does: "Find a screen, view, record or command",
      whileTyping: true,
      run: () => setPaletteOpen(true),
    },
    ...[...navigation().flatMap((group) => group.places), SETTINGS]
      .filter(({ key }) => key !== null)
      .map((place) => ({
        keys: `g ${place.key}`,
        does: `Go to ${place.name.toLowerCase()}`,
        run: () => go(place.to),
      })),
  ]);
  return (
    <div className="layout">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <aside className="side">
        <Brand />
        <Navigation path={path} />
        <Foot session={session} onKeys={() => setMapOpen(true)} />
      </aside>
      <header className="top">
        <IconButton icon="menu" label="Open navigation" onClick={() => setNavOpen(true)} />
        <Brand />
        <ConnectionPill />
      </header>
      <ConnectionBanner />
      <main id="main" ref={main} tabIndex={-1}>
        {children}
      </main>
      {isNavOpen && (
        <Dialog title="ScraperSky" side="left" onClose={() => setNavOpen(false)}>
          <Navigation path={path} />
          <Foot session={session} onKeys={() => setMapOpen(true)} />
        </Dialog>
      )}
      {isPaletteOpen && <Palette onClose={() => setPaletteOpen(false)} />}
      {isMapOpen && <KeyMap onClose={() => setMapOpen(false)} />}
    </div>
  );
}

function Brand() {
  return (
    <Link to="/" className="brand" aria-label="ScraperSky: go to the pipeline">
      <img src="/icon.svg" width={26} height={26} alt="" />
      <span>ScraperSky</span>
    </Link>
  );
}

function Navigation({ path }: { path: string }) {
  return (
    <nav className="nav" aria-label="Screens">
      {navigation().map((group) =>
        group.isFolded ? (
          <Folded key={group.name} group={group} path={path} />
        ) : (
          <div key={group.name} className="nav-group">
            <h2>{group.name}</h2>
            <NavLinks group={group} path={path} />
          </div>
        ),
      )}
      <SavedViews />
      <div className="nav-group">
        <ul>
          <NavLink place={SETTINGS} path={path} />
        </ul>
      </div>
    </nav>
  );
}

function NavLinks({ group, path }: { group: Group; path: string }) {
  return (
    <ul>
      {group.places.map((place) => (
        <NavLink key={place.to} place={place} path={path} />
      ))}
    </ul>
  );
}

/** The steps between a search and its leads: out of the way of who needs only those. */
function Folded({ group, path }: { group: Group; path: string }) {
  const isHere = group.places.some(({ to }) => path === to || path.startsWith(`${to}/`));
  const [isOpen, setOpen] = useState(isHere);
  useEffect(() => {
    if (isHere) setOpen(true);
  }, [isHere]);
  return (
    <details
      className="nav-group"
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>{group.name}</summary>
      <NavLinks group={group} path={path} />
    </details>
  );
}

/** Saved views, where one looks for them all day. */
function SavedViews() {
  const { data = [] } = useViews();
  const [search] = useSearch();
  const here = `${usePath()}?${search}`;
  const views = data.flatMap((view) => {
    const to = viewScreen(view);
    return to ? [{ ...view, to }] : [];
  });
  if (views.length === 0) return null;
  return (
    <div className="nav-group">
      <h2>Views</h2>
      <ul>
        {views.map(({ id, name, to }) => (
          <li key={id}>
            <Link to={to} aria-current={to === here ? "page" : undefined}>
              <Icon name="star" />
              <span className="foreign cut">{name}</span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}

function NavLink({ place, path }: { place: Place; path: string }) {
  const isHere =
    place.to === "/" ? path === "/" : path === place.to || path.startsWith(`${place.to}/`);
  return (
    <li>
      <Link to={place.to} aria-current={isHere ? "page" : undefined}>
        <Icon name={place.icon} />
        <span>{place.name}</span>
      </Link>
    </li>
  );
}

/** Where the server does not show the reference of its API. */
const DEPLOYED = new Set(["staging", "production"]);

const THEMES: readonly { id: Theme; name: string }[] = [
  { id: "system", name: "System theme" },
  { id: "light", name: "Light" },
  { id: "dark", name: "Dark" },
];

function Foot({ session, onKeys }: { session: Session; onKeys: () => void }) {
  const queries = useQueryClient();
  const chosen = useTheme();
  const [isChanging, setChanging] = useState(false);
  const items: (MenuItem | "line")[] = THEMES.map(({ id, name }) => ({
    name,
    checked: chosen === id,
    run: () => chooseTheme(id),
  }));
  items.push("line", { name: "Keyboard shortcuts", icon: "keyboard", hotkey: "?", run: onKeys });
  if (!DEPLOYED.has(session.environment)) {
    items.push({
      name: "API reference",
      icon: "open",
      run: () => window.open("/docs", "_blank", "noopener"),
    });
  }
  if (session.via === "session") {
    items.push({ name: "Change password", icon: "key", run: () => setChanging(true) });
    items.push({ name: "Log out", icon: "logout", run: () => logout(queries).catch(toastError) });
  }
  return (
    <div className="side-foot">
      {isChanging && <ChangePassword onClose={() => setChanging(false)} />}
      <ConnectionPill />
      <Menu
        label={`${session.name} ${session.tenant.name}: theme, shortcuts and more`}
        look="quiet"
        className="who"
        shown={
          <>
            <span
              className="avatar"
              aria-hidden="true"
              data-letter={session.name.slice(0, 1).toUpperCase()}
            />
            <span className="grow cut who-name">
              {session.name}
              <span className="small faint"> {session.tenant.name}</span>
            </span>
            <Icon name="up" size={14} />
          </>
        }
        items={items}
      />
    </div>
  );
}

const CONNECTION = {
  live: ["good", "Live"],
  connecting: ["warn", "Connecting"],
  lost: ["bad", "No connection"],
} as const;

function ConnectionPill() {
  const connection = useConnection();
  const [tone, words] = CONNECTION[connection];
  return (
    <span className={`pill ${tone}`}>
      <span className="dot" />
      {words}
    </span>
  );
}

/** A lost connection is said once, loudly, where nobody can miss it. */
function ConnectionBanner() {
  const connection = useConnection();
  return (
    <div role="status" className={connection === "lost" ? "banner" : "unseen"}>
      {connection === "lost" && (
        <>
          <Icon name="warning" />
          <span>
            <strong>The server is not responding.</strong> What you see may be out of date. This
            page reconnects by itself; decisions you make meanwhile are sent then.
          </span>
        </>
      )}
    </div>
  );
}
