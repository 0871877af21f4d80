"""Runs in the environment `judges`: what boto3 does with a bucket. Reads instructions and writes its findings as JSON."""

import base64
import datetime
import json
import sys

import boto3
import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.httpsession import URLLib3Session

asked = json.load(sys.stdin)
config = Config(signature_version="s3v4", s3={"addressing_style": "path"}, retries={"max_attempts": 0})
client = boto3.client(
    "s3",
    endpoint_url=asked["endpoint"],
    aws_access_key_id=asked["access_key"],
    aws_secret_access_key=asked["secret_key"],
    region_name="us-east-1",
    config=config,
)


def put(url, data, media_type):
    request = AWSRequest("PUT", url, data=data, headers={"Content-Type": media_type})
    return URLLib3Session().send(request.prepare()).status_code


def sign(key, moment, seconds, media_type):
    """The address that boto3 makes at this moment."""
    now = datetime.datetime.fromisoformat(moment)
    botocore.auth.get_current_datetime = lambda remove_tzinfo=True: now.replace(tzinfo=None) if remove_tzinfo else now
    fields = {"Bucket": asked["bucket"], "Key": key, "ContentType": media_type}
    return client.generate_presigned_url("put_object", Params=fields, ExpiresIn=seconds)


def read_tree(prefix):
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=asked["bucket"], Prefix=prefix)
    found = {}
    for entry in (entry for page in pages for entry in page.get("Contents", [])):
        answer = client.get_object(Bucket=asked["bucket"], Key=entry["Key"])
        data = base64.b64encode(answer["Body"].read()).decode()
        found[entry["Key"].removeprefix(prefix)] = [data, answer["ContentType"], answer.get("CacheControl")]
    return found


match asked["do"]:
    case "sign":
        told = sign(asked["key"], asked["moment"], asked["seconds"], asked["media_type"])
    case "put":
        data = base64.b64decode(asked["data"])
        refused = put(asked["url"], data, "text/html")
        status = put(asked["url"], data, "application/gzip")
        head = client.head_object(Bucket=asked["bucket"], Key=asked["key"])
        told = [refused, status, head["ContentLength"], head["ContentType"]]
    case "read":
        told = read_tree(asked["prefix"])
print(json.dumps(told))
