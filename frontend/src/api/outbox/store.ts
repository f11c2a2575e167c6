/** Where changes wait until the server has them: in the browser, past the end of the tab. */
import { type Draft, type Entry, NOBODY } from "./entry";

export type NewEntry = Omit<Entry, "id">;
/** What becomes of an entry; null takes it out. */
export type Change = (entry: Entry) => Entry | null;

export interface Store {
  add(entry: NewEntry): Promise<Entry>;
  all(): Promise<readonly Entry[]>;
  /** Read and change one entry at once: no other tab comes between. */
  change(id: number, change: Change): Promise<Entry | null>;
}

const DATABASE = "scrapersky";
const ENTRIES = "outbox";
const VERSION = 1;

export function newEntry(draft: Draft, key: string, person = NOBODY): NewEntry {
  return { ...draft, key, person, tries: 0, isLate: false, refusal: null };
}

/** Where a browser keeps nothing, changes wait as long as the page is open. */
export class PageStore implements Store {
  private entries: readonly Entry[] = [];
  private last = 0;

  async add(entry: NewEntry): Promise<Entry> {
    this.last += 1;
    const added = { ...entry, id: this.last };
    this.entries = [...this.entries, added];
    return added;
  }

  async all(): Promise<readonly Entry[]> {
    return this.entries;
  }

  async change(id: number, change: Change): Promise<Entry | null> {
    const entry = this.entries.find((one) => one.id === id);
    const changed = entry ? change(entry) : null;
    this.entries = this.entries.flatMap((one) =>
      one.id !== id ? [one] : changed ? [changed] : [],
    );
    return changed;
  }
}

/** The database that all tabs of this address share. */
export class BrowserStore implements Store {
  private constructor(private readonly database: IDBDatabase) {}

  static async open(): Promise<BrowserStore> {
    const opening = indexedDB.open(DATABASE, VERSION);
    opening.onupgradeneeded = () =>
      opening.result.createObjectStore(ENTRIES, { keyPath: "id", autoIncrement: true });
    const database = await answered(opening);
    // A newer page of another tab may bring a newer database.
    database.onversionchange = () => database.close();
    return new BrowserStore(database);
  }

  async add(entry: NewEntry): Promise<Entry> {
    const transaction = this.begin("readwrite");
    const id = await answered(transaction.objectStore(ENTRIES).add(entry));
    await committed(transaction);
    return { ...entry, id: Number(id) };
  }

  async all(): Promise<readonly Entry[]> {
    return answered(this.begin("readonly").objectStore(ENTRIES).getAll());
  }

  async change(id: number, change: Change): Promise<Entry | null> {
    const transaction = this.begin("readwrite");
    const entries = transaction.objectStore(ENTRIES);
    const entry: Entry | undefined = await answered(entries.get(id));
    const changed = entry ? change(entry) : null;
    if (changed) entries.put(changed);
    else entries.delete(id);
    await committed(transaction);
    return changed;
  }

  private begin(mode: IDBTransactionMode): IDBTransaction {
    return this.database.transaction(ENTRIES, mode, { durability: "strict" });
  }
}

/** Open what there is: some browsers keep nothing in a private window. */
export async function openStore(): Promise<Store> {
  try {
    return await BrowserStore.open();
  } catch {
    return new PageStore();
  }
}

function answered<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function committed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}
