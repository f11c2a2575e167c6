"""Websites on a host of their own; every visit is written down: where, whose, when."""

import asyncio
import json
import sys
import time
from pathlib import Path

HOME = (
    b"<!doctype html><html lang=en><title>A shop</title>"
    b"<h1>A shop of its own</h1><p>Bread and rolls, baked here every morning.</p></html>"
)
ANSWERS = {
    b"/": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%b"
    % (len(HOME), HOME)
}
NOTHING = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


async def main(diary: Path) -> None:
    with diary.open("a", buffering=1) as pages:

        async def serve(
            reader: asyncio.StreamReader, writer: asyncio.StreamWriter
        ) -> None:
            address = writer.get_extra_info("sockname")[0]
            visitor = writer.get_extra_info("peername")[0]
            try:
                while request := await reader.readuntil(b"\r\n\r\n"):
                    began = time.monotonic()
                    host = request.split(b"Host: ")[1].split(b"\r\n")[0].decode()
                    await asyncio.sleep(0.05)
                    visit = (host, address, visitor, began, time.monotonic())
                    pages.write(json.dumps(visit) + "\n")
                    writer.write(ANSWERS.get(request.split(b" ")[1], NOTHING))
            except (asyncio.IncompleteReadError, ConnectionError):
                pass
            finally:
                writer.close()

        server = await asyncio.start_server(serve, "0.0.0.0", 80)
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
