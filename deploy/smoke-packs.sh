#!/bin/sh
# Make a document of a pack on a running installation and download it: `smoke-packs.sh [URL]`, by default http://127.0.0.1:8000.
# It needs curl. PRESSROOM_TOKEN is a token with the scope admin, if the service asks for one.
#
# Where no documents_registry is published, one with the document `smoke` is. Where there is one, name a document of it in
# SMOKE_DOCUMENT and what it is made from in SMOKE_DATA.
set -eu
url=${1:-http://127.0.0.1:8000}
url=${url%/}
document=${SMOKE_DOCUMENT:-smoke}
data=${SMOKE_DATA:-'{"name": "Smoke Test"}'}
tries=${SMOKE_TRIES:-90} # with two seconds in between
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    printf 'smoke: %s\n' "$*" >&2
    exit 1
}

# call METHOD PATH [BODY]: the answer, which must be a success.
call() {
    status=$(curl -sS -o "$folder/answer" -w '%{http_code}' -X "$1" -H 'Content-Type: application/json' \
        ${PRESSROOM_TOKEN:+-H "Authorization: Bearer $PRESSROOM_TOKEN"} ${3:+--data-binary "$3"} "$url$2") || fail "$1 $2: no answer"
    case $status in
    2??) cat "$folder/answer" ;;
    *) fail "$1 $2: HTTP $status $(head -c 500 "$folder/answer")" ;;
    esac
}

# field NAME: the first text or number of this name in JSON.
field() {
    sed -n "s/.*\"$1\": *\"\{0,1\}\([^\",}]*\).*/\1/p" | head -n 1
}

publish() {
    number=$(call POST "/admin/config/$1/draft" "$2" | field number)
    call POST "/admin/config/$1/$number/publish" >/dev/null
    echo "published $1, version $number"
}

if ! call GET /admin/config | grep -q '"documents_registry"'; then
    publish template:smoke '{"body": "<h1>{{ name }}</h1>"}'
    publish documents_registry '{"body": [{"doc_id": "smoke", "title": "Smoke test", "template": "smoke"}]}'
fi

pack=$(call POST /packs "{\"title\": \"Smoke test\", \"data\": $data}" | field pack_id)
[ -n "$pack" ] || fail "no pack_id was answered"
echo "pack $pack"
job=$(call POST "/packs/$pack/render/$document" | field job_id)
echo "render job $job"

status=
while [ "$tries" -gt 0 ]; do
    call GET "/packs/$pack/documents/$document" >"$folder/versions"
    status=$(field status <"$folder/versions")
    case $status in
    ready) break ;;
    failed) fail "the document failed: $(field last_error <"$folder/versions")" ;;
    esac
    tries=$((tries - 1))
    sleep 2
done
[ "$status" = ready ] || fail "the document is still $status"

file=$(field file_id <"$folder/versions")
link=$(call GET "/files/$file/download" | field url)
case $link in
/*) link=$url$link ;;
esac
curl -fsS -o "$folder/file.pdf" "$link" || fail "the link to the file opens nothing"
[ "$(head -c 4 "$folder/file.pdf")" = %PDF ] || fail "what was downloaded is no PDF"
echo "ready: file $file, $(($(wc -c <"$folder/file.pdf"))) bytes that begin with %PDF"
