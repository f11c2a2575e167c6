import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// While working on the page: `npm run dev` serves it and sends the API's paths on to a
// running `./scrapersky up`.
const server = process.env.SCRAPERSKY_ADDRESS ?? "http://127.0.0.1:8000";

export default defineConfig({
  base: "/",
  resolve: { alias: { "@": here("./src") } },
  build: {
    outDir: here("../src/scrapersky/ui"),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2023",
    reportCompressedSize: false,
    rolldownOptions: {
      // Libraries mark files for frameworks that render on a server; we have none.
      onwarn: (warning, warn) => {
        if (warning.code !== "MODULE_LEVEL_DIRECTIVE") warn(warning);
      },
    },
  },
  server: {
    proxy: { "/api": server, "/health": server, "/docs": server, "/openapi.json": server },
  },
});
