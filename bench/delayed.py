"""A wire to the database that is as long as one likes.

python -m bench.delayed TARGET_PORT MILLISECONDS    prints its own port, ends with stdin
"""

import asyncio
import contextlib
import sys
import time

CHUNK_BYTES = 256 * 1024


async def pass_on(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay: float
) -> None:
    """Hand over bytes so much later; what follows does not wait for what is on its way."""
    on_its_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    async def deliver() -> None:
        while True:
            due, data = await on_its_way.get()
            if (wait := due - time.monotonic()) > 0:
                await asyncio.sleep(wait)
            if not data:
                return
            writer.write(data)
            await writer.drain()

    with contextlib.suppress(OSError):
        async with asyncio.TaskGroup() as group:
            group.create_task(deliver())
            data = b"x"
            while data:
                data = await reader.read(CHUNK_BYTES)
                on_its_way.put_nowait((time.monotonic() + delay, data))
    with contextlib.suppress(OSError):
        writer.close()


async def serve(target: int, delay: float) -> None:
    """Pass on every connection, half of the delay in each direction, until stdin ends."""

    async def link(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", target)
        await asyncio.gather(
            pass_on(reader, back, delay / 2),
            pass_on(there, writer, delay / 2),
            return_exceptions=True,
        )

    server = await asyncio.start_server(link, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), float(sys.argv[2]) / 1000))
