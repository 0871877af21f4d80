"""The last phase of a job (Q23): the dashboard and the 404 page, rendered once."""

from pressroom.apps.docs.processing.edition_publishing import EditionPublishing, ProjectPlace
from pressroom.errors import Cancelled, ClaimLost, EngineMissing, PressroomError, Refused, SourceInvalid, TooLarge
from pressroom.worker.context import RunningJob, public_error


async def render_dashboard(job: RunningJob, publishing: EditionPublishing, place: ProjectPlace, *, last: bool) -> str | None:
    """What went wrong, if something did: the editions are where they should be all the same, so that this alone fails no job.

    In an attempt that is not the `last` one, an error that may pass is raised."""
    await job.phase("dashboard", message="Rendering the dashboard")
    try:
        await publishing.render_dashboard(place)
    except (Cancelled, ClaimLost):
        raise
    except (Refused, SourceInvalid, TooLarge, EngineMissing) as wrong:
        return f"dashboard: {wrong}"
    except Exception as error:
        if not last:
            raise
        words = str(error) if isinstance(error, PressroomError) else public_error("dashboard", error)
        return f"dashboard: {words}"
    return None
