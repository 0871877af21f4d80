"""Documentation sites from Python: `client.docs("acme", "guide")` is a project of an organisation.

guide = client.docs("acme", "guide")
build = guide.upload(Path("site.tar.gz"), git_ref="v2.1.0")
job = guide.wait_until_ended(build)
"""
