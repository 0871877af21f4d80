-- Lists of the builds of a project, page by page: without it each page sorts all builds of the project.
CREATE INDEX docs_build_listed ON docs_build (project, uid);
