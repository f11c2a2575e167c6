/** Put compressed twins beside every text of the built page, so that serving costs nothing. */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { brotliCompressSync, gzipSync } from "node:zlib";

const [, , made] = process.argv;
for (const name of globSync("**/*.{js,css,html,svg}", { cwd: made })) {
  const path = `${made}/${name}`;
  const text = readFileSync(path);
  writeFileSync(`${path}.br`, brotliCompressSync(text));
  // For browsers that take Brotli only over HTTPS.
  writeFileSync(`${path}.gz`, gzipSync(text, { level: 9 }));
}
