/** What stands around every screen: navigation, connection, theme, who is here. */
import { useQueryClient } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from "react";
import { useConnection } from "@/api/events";
import { useEntries, useSending } from "@/api/outbox/useOutbox";
import { useViews, viewScreen } from "@/api/views";
import { Button, Dialog, Icon, IconButton, Menu, type MenuItem, toastError } from "@/kit";
import { texts } from "@/texts/app";
import { useKeys } from "./keys";
import { later, Opened, useLater } from "./later";
import { retried } from "./retried";
import { go, Link, usePath, useSearch } from "./router";
import { type Group, isOperator, navigation, type Place, resolved, SETTINGS } from "./routes";
import { logout, type Session } from "./session";
import { chooseTheme, type Theme, useTheme } from "./theme";
// It is needed when the server is away, perhaps a second after the page was opened.
import Waiting from "./Waiting";

const DemoBar = lazy(retried(() => import("@/screens/pipeline/Demo")));
const ChangePassword = later(() => import("./ChangePassword"));
const KeyMap = later(() => import("./KeyMap"));
const Palette = later(() => import("./Palette"));

export function Layout({ session, children }: { session: Session; children: ReactNode }) {
  useSending(session);
  useLater(true);
  const [isNavOpen, setNavOpen] = useState(false);
  const [isMapOpen, setMapOpen] = useState(false);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const path = resolved(usePath(), session);
  const main = useRef<HTMLElement>(null);
  const before = useRef(path);
  useEffect(() => {
    if (before.current === path) return;
    before.current = path;
    setNavOpen(false);
    // Another screen is a new beginning for who listens to the page instead of looking.
    main.current?.focus({ preventScroll: true });
  }, [path]);
  useKeys(texts.layout.everywhere, [
    { keys: "?", does: texts.layout.showKeyboardShortcuts, run: () => setMapOpen(true) },
    {
      keys: "Mod+k",
      does: texts.layout.findAScreen,
      whileTyping: true,
      run: () => setPaletteOpen(true),
    },
    ...[...navigation().flatMap((group) => group.places), SETTINGS]
      .filter(({ key }) => key !== null)
      .map((place) => ({
        keys: `g ${place.key}`,
        does: texts.layout.goTo(place.name.toLowerCase()),
        run: () => go(place.to),
      })),
  ]);
  return (
    <div className="layout">
      <a className="skip" href="#main">
        {texts.layout.skipToContent}
      </a>
      <aside className="side">
        <Brand />
        <Navigation path={path} session={session} />
        <Foot session={session} onKeys={() => setMapOpen(true)} />
      </aside>
      <header className="top">
        <IconButton
          icon="menu"
          label={texts.layout.openNavigation}
          onClick={() => setNavOpen(true)}
        />
        <Brand />
        <ConnectionPill />
      </header>
      <div className="banners">
        <ConnectionBanner />
        {!DEPLOYED.has(session.environment) && (
          <Suspense>
            <DemoBar />
          </Suspense>
        )}
      </div>
      <main id="main" ref={main} tabIndex={-1}>
        {children}
      </main>
      {isNavOpen && (
        <Dialog title={texts.layout.scrapersky} side="left" onClose={() => setNavOpen(false)}>
          <Navigation path={path} session={session} />
          <Foot session={session} onKeys={() => setMapOpen(true)} />
        </Dialog>
      )}
      {isPaletteOpen && (
        <Opened onClose={() => setPaletteOpen(false)}>
          <Palette onClose={() => setPaletteOpen(false)} />
        </Opened>
      )}
      {isMapOpen && (
        <Opened onClose={() => setMapOpen(false)}>
          <KeyMap onClose={() => setMapOpen(false)} />
        </Opened>
      )}
    </div>
  );
}

function Brand() {
  return (
    <Link to="/" className="brand" aria-label={texts.layout.scraperskyGoHome}>
      <img src="/icon.svg" width={26} height={26} alt="" />
      <span>{texts.layout.scrapersky}</span>
    </Link>
  );
}

function Navigation({ path, session }: { path: string; session: Session }) {
  return (
    <nav className="nav" aria-label={texts.layout.screens}>
      {navigation().map((group) =>
        group.isAdvanced ? (
          <Advanced key={group.name} group={group} path={path} isOpen={isOperator(session)} />
        ) : (
          <div key={group.name} className="nav-group">
            <h2>{group.name}</h2>
            <Places places={group.places} path={path} />
          </div>
        ),
      )}
      <SavedViews />
      <div className="nav-group">
        <Places places={[SETTINGS]} path={path} />
      </div>
    </nav>
  );
}

const ADVANCED = "advanced";

/** What operators work with: open for them, and for whoever has opened it. */
function Advanced({ group, path, isOpen }: { group: Group; path: string; isOpen: boolean }) {
  const isHere = group.places.some(({ to }) => isWithin(path, to));
  const kept = localStorage.getItem(ADVANCED);
  return (
    <details
      className="nav-group"
      open={isHere || (kept === null ? isOpen : kept === "open")}
      onToggle={({ currentTarget }) =>
        isHere || localStorage.setItem(ADVANCED, currentTarget.open ? "open" : "closed")
      }
    >
      <summary>
        <h2>{group.name}</h2>
      </summary>
      <Places places={group.places} path={path} />
    </details>
  );
}

function Places({ places, path }: { places: readonly Place[]; path: string }) {
  return (
    <ul>
      {places.map((place) => (
        <NavLink key={place.to} place={place} path={path} />
      ))}
    </ul>
  );
}

const isWithin = (path: string, to: string): boolean => path === to || path.startsWith(`${to}/`);

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
      <h2>{texts.layout.views}</h2>
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
  const isHere = isWithin(path, place.to);
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
  { id: "system", name: texts.layout.systemTheme },
  { id: "light", name: texts.layout.light },
  { id: "dark", name: texts.layout.dark },
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
  items.push("line", {
    name: texts.layout.keyboardShortcuts,
    icon: "keyboard",
    hotkey: "?",
    run: onKeys,
  });
  if (!DEPLOYED.has(session.environment)) {
    items.push({
      name: texts.layout.apiReference,
      icon: "open",
      run: () => window.open("/docs", "_blank", "noopener"),
    });
  }
  if (session.via === "session") {
    items.push({ name: texts.layout.changePassword, icon: "key", run: () => setChanging(true) });
    items.push({
      name: texts.layout.logOut,
      icon: "logout",
      run: () => logout(queries).catch(toastError),
    });
  }
  return (
    <div className="side-foot">
      {isChanging && (
        <Opened onClose={() => setChanging(false)}>
          <ChangePassword onClose={() => setChanging(false)} />
        </Opened>
      )}
      <ConnectionPill />
      <Menu
        label={texts.layout.themeShortcutsAndMore(session.name, session.tenant.name)}
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
  live: ["good", texts.layout.live],
  connecting: ["warn", texts.layout.connecting],
  lost: ["", texts.layout.noConnection],
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

/** A lost connection is said once, loudly, where nobody can miss it; so is what waits for it. */
function ConnectionBanner() {
  const connection = useConnection();
  const entries = useEntries();
  const [isOpen, setOpen] = useState(false);
  const isLost = connection === "lost";
  const refused = entries.filter(({ refusal }) => refusal).length;
  const late = entries.filter(({ isLate, refusal }) => !refusal && (isLate || isLost)).length;
  const isShown = isLost || refused + late > 0;
  return (
    <>
      <div role="status" className={isShown ? "banner" : "unseen"}>
        {isShown && <Icon name="warning" />}
        {isLost && (
          <span className="grow">
            <strong>{texts.layout.serverIsNotResponding}</strong> {texts.layout.whatYouSeeMayBeOut}
          </span>
        )}
        {late > 0 && <span>{texts.waiting.waitToBeSent(late)}</span>}
        {refused > 0 && <span>{texts.waiting.needYou(refused)}</span>}
        {refused + late > 0 && (
          <Button small onClick={() => setOpen(true)}>
            {refused > 0 ? texts.waiting.review : texts.waiting.show}
          </Button>
        )}
      </div>
      {isOpen && <Waiting onClose={() => setOpen(false)} />}
    </>
  );
}
