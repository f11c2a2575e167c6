/** Parts of the page are fetched when first needed: a server that is away must not break them. */
const TRIES = 3;
const MOST = 100;

/** Load a part, again and again while the server does not answer. */
export function retried<T>(load: () => Promise<T>): () => Promise<T> {
  return async () => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await load();
      } catch (error) {
        // A server that answers but has no such part was updated: only a new page helps.
        if (tries >= MOST || (tries >= TRIES && (await answers()))) throw error;
        await new Promise((resolve) => setTimeout(resolve, Math.min(2000, 200 * 2 ** tries)));
      }
    }
  };
}

async function answers(): Promise<boolean> {
  try {
    return (await fetch("/health/live")).ok;
  } catch {
    return false;
  }
}
