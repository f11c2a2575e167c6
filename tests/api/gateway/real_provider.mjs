// node-oidc-provider with one client and one person; prints its address when it listens.
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.cwd()}/`);
const { default: Provider } = await import(pathToFileURL(require.resolve("oidc-provider")));

const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: "scrapersky",
        client_secret: process.env.CLIENT_SECRET,
        redirect_uris: ["http://app.test/api/v3/session/openid/callback"],
      },
    ],
    claims: { email: ["email", "email_verified"], profile: ["name", "groups"] },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({
        sub: id,
        name: "Ada",
        email: `${id}@harbour.example`,
        email_verified: true,
        groups: ["crawl"],
      }),
    }),
  });
  server.on("request", provider.callback());
  console.log(issuer);
});
