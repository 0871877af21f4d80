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
    listener = socket.create_server(("127.0.0.1", int(port)), backlog=2048)
    app = Starlette(routes=[Mount("/picture", pictures(Path(picture).read_bytes())), Mount("/", rows(database))])
    config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False, lifespan="off")
    uvicorn.Server(config).run([listener])
