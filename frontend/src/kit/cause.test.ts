import { expect, it } from "vitest";
import { causeOf } from "./cause";

it.each([
  ["too_big: https://a.example/x: more than 5 MB", "Too large: more than 5 MB"],
  ["too_big: … more than 5 MB", "Too large: more than 5 MB"],
  [
    "blocked_addr: https://a.example/: leads to 192.168.1.7, which is in 192.168.0.0/16",
    "Not a public address: leads to 192.168.1.7",
  ],
  ["blocked_addr: leads to …, which is in …/16", "Not a public address"],
  [
    "too_slow: no complete response headers after … s",
    "The website took too long: no complete response headers",
  ],
  ["robots_denied", "Blocked by robots.txt"],
  ["trap: https://a.example/", "Endless pages"],
  ["the server answered 404", "The server answered 404 (not found)"],
  ["the server answered 418", "The server answered 418"],
  [
    "https://a.example/: the server answered 503",
    "The server answered 503 (temporarily unavailable)",
  ],
  ["some_other: thing", "Some other: thing"],
  ["no: code of ours", "No: code of ours"],
  ["ran past its timeout of 60 s", "Ran past its timeout of 60 s"],
])("says %s in words", (cause, words) => {
  expect(causeOf(cause)).toBe(words);
});
