import { mergeConfig } from "vite";
import { defineConfig } from "vitest/config";
import page from "./vite.config.ts";

export default mergeConfig(
  page,
  defineConfig({
    test: {
      include: ["src/**/*.test.ts"],
      environment: "node",
      isolate: false,
      // Only a hang takes this long; the usual five seconds measure how busy a machine is.
      testTimeout: 120_000,
    },
  }),
);
