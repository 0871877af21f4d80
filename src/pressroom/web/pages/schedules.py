from fastapi import APIRouter

from pressroom.web.desk import Desk


def router(desk: Desk) -> APIRouter:  # noqa: ARG001
    return APIRouter(include_in_schema=False)
