"""What ours is measured beside: the least that an application would write by hand, on the same server with the same settings.

`python -m bench.http_bare PORT DATABASE PICTURE` serves it: `POST /row` commits a row, `GET /picture/` returns bytes.
"""

import socket
import sys
from pathlib import Path

import apsw
import uvicorn
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route


def rows(database: str) -> FastAPI:
    app = FastAPI(openapi_url=None)
    connection = apsw.Connection(database)
    connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS job (id INTEGER PRIMARY KEY, payload TEXT NOT NULL)")

    @app.post("/row")
    async def submit(request: Request) -> Response:
        body = await request.body()
        connection.execute("INSERT INTO job (payload) VALUES (?)", (body.decode(),))
        return JSONResponse({"id": connection.last_insert_rowid()}, 202)

    return app


def pictures(picture: bytes) -> Starlette:
    async def show(request: Request) -> Response:
        return Response(picture, media_type="image/svg+xml")

    return Starlette(routes=[Route("/", show)])


if __name__ == "__main__":
    port, database, picture = sys.argv[1:]
    # With its protocol named, as uvicorn itself does: asyncio sets TCP_NODELAY only then, and without it every answer on a kept
    # connection waits 40 ms for the client's delayed acknowledgement.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", int(port)))
    listener.listen(2048)
    app = Starlette(routes=[Mount("/picture", pictures(Path(picture).read_bytes())), Mount("/", rows(database))])
    config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False, lifespan="off", loop="asyncio")
    uvicorn.Server(config).run([listener])
